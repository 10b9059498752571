// Loads libxcb and its extensions when a screen is first captured.

#define _GNU_SOURCE

#include "functions.h"
#include <dlfcn.h>
#include <pthread.h>

struct inlet_xcb_functions inlet_xcb;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *missing = "libxcb";

#define INLET_XCB_FIND(function)                                                              \
    inlet_xcb.function = (__typeof__(inlet_xcb.function))dlsym(library, "xcb_" #function);    \
    if (!inlet_xcb.function) return;
#define INLET_XCB_FIND_ID(id)                                              \
    inlet_xcb.id = (xcb_extension_t *)dlsym(library, "xcb_" #id);          \
    if (!inlet_xcb.id) return;

static void load(void) {
    void *library = dlopen(missing = "libxcb.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    INLET_XCB_FUNCTIONS(INLET_XCB_FIND)
    if (!(library = dlopen(missing = "libxcb-shm.so.0", RTLD_NOW | RTLD_LOCAL))) return;
    INLET_XCB_SHM(INLET_XCB_FIND)
    INLET_XCB_FIND_ID(shm_id)
    if (!(library = dlopen(missing = "libxcb-xfixes.so.0", RTLD_NOW | RTLD_LOCAL))) return;
    INLET_XCB_XFIXES(INLET_XCB_FIND)
    INLET_XCB_FIND_ID(xfixes_id)
    if (!(library = dlopen(missing = "libxcb-damage.so.0", RTLD_NOW | RTLD_LOCAL))) return;
    INLET_XCB_DAMAGE(INLET_XCB_FIND)
    INLET_XCB_FIND_ID(damage_id)
    if (!(library = dlopen(missing = "libxcb-randr.so.0", RTLD_NOW | RTLD_LOCAL))) return;
    INLET_XCB_RANDR(INLET_XCB_FIND)
    INLET_XCB_FIND_ID(randr_id)
    missing = NULL;
}

const char *inlet_xcb_load(void) {
    pthread_once(&once, load);
    return missing;
}
