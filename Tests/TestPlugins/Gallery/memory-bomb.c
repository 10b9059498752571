/* Allocates memory until there is no more. */
#include "tools.h"

static inlet_result eat(inlet_error *error) {
    for (int megabytes = 0; megabytes < 16384; megabytes += 16) {
        kept = malloc(16 << 20);
        if (!kept) return tell(error, "Taking memory", 1);
    }
    return tell(error, "Taking 16 GiB of memory", 0);
}

#define IN_NEXT return eat(error);
#include "gallery.h"
