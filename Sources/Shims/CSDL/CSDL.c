#include "CSDL.h"

#include <dlfcn.h>

const struct csdl_functions *csdl_load(const char **missing) {
    // Filled once by the caller's promise to call this once.
    static struct csdl_functions functions;
    static const char name[] = "libSDL2-2.0.so.0";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        *missing = name;
        return 0;
    }
#define CSDL_FIND(name) \
    functions.name = (__typeof__(&name))dlsym(library, #name); \
    if (!functions.name) { \
        *missing = #name; \
        dlclose(library); \
        return 0; \
    }
    CSDL_FUNCTIONS(CSDL_FIND)
#undef CSDL_FIND
    return &functions;
}
