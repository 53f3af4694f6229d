#include "CPulse.h"

#include <dlfcn.h>

enum cpulse_result cpulse_load(struct cpulse_functions *functions) {
    void *library = dlopen("libpulse.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return CPULSE_NOT_INSTALLED;
#define CPULSE_LOOK_UP(NAME) \
    functions->NAME = (__typeof__(functions->NAME))dlsym(library, #NAME); \
    if (!functions->NAME) return CPULSE_TOO_OLD;
    CPULSE_FUNCTIONS(CPULSE_LOOK_UP)
#undef CPULSE_LOOK_UP
    return CPULSE_LOADED;
}
