#include "CXCB.h"

#include <dlfcn.h>

#define FIND_AS(member, name) \
    functions.member = (__typeof__(functions.member))dlsym(library, #name); \
    if (!functions.member) { \
        dlclose(library); \
        return 0; \
    }
#define FIND(name) FIND_AS(name, name)

const struct cxcb_functions *cxcb_load(void) {
    static struct cxcb_functions functions;
    void *library = dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    CXCB_FUNCTIONS(FIND)
    return &functions;
}

const struct cxcb_shm_functions *cxcb_load_shm(void) {
    static struct cxcb_shm_functions functions;
    void *library = dlopen("libxcb-shm.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    CXCB_SHM_FUNCTIONS(FIND)
    FIND_AS(extension, xcb_shm_id)
    return &functions;
}

const struct cxcb_fixes_functions *cxcb_load_fixes(void) {
    static struct cxcb_fixes_functions functions;
    void *library = dlopen("libxcb-xfixes.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    CXCB_FIXES_FUNCTIONS(FIND)
    FIND_AS(extension, xcb_xfixes_id)
    return &functions;
}
