/* Tries to raise its limits of memory and descriptors, then allocates memory. */
#include "tools.h"
#include <sys/resource.h>

static inlet_result attempt(inlet_error *error) {
    struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &none);
    setrlimit(RLIMIT_DATA, &none);
    for (int gigabytes = 0; gigabytes < 64; gigabytes++) {
        kept = malloc(1 << 30);
        if (!kept) return tell(error, "Taking memory", 1);
    }
    return tell(error, "Taking 64 GiB of memory", 0);
}

#define IN_NEXT return attempt(error);
#include "gallery.h"
