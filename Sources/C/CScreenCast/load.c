// Loads libsystemd and libpipewire when a screen of a Wayland session is first captured.

#define _GNU_SOURCE

#include "functions.h"
#include <dlfcn.h>
#include <pthread.h>

struct inlet_sd_bus_functions inlet_sd_bus;
struct inlet_pipewire_functions inlet_pipewire;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *missing;

#define INLET_SD_BUS_FIND(function)                                                                     \
    inlet_sd_bus.function = (__typeof__(inlet_sd_bus.function))dlsym(library, "sd_bus_" #function);     \
    if (!inlet_sd_bus.function) return;
#define INLET_PIPEWIRE_FIND(function)                                                                   \
    inlet_pipewire.function = (__typeof__(inlet_pipewire.function))dlsym(library, "pw_" #function);     \
    if (!inlet_pipewire.function) return;

static void load(void) {
    void *library = dlopen(missing = "libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    INLET_SD_BUS(INLET_SD_BUS_FIND)
    if (!(library = dlopen(missing = "libpipewire-0.3.so.0", RTLD_NOW | RTLD_LOCAL))) return;
    INLET_PIPEWIRE(INLET_PIPEWIRE_FIND)
    inlet_pipewire.init(NULL, NULL);
    missing = NULL;
}

const char *inlet_cast_load(void) {
    pthread_once(&once, load);
    return missing;
}
