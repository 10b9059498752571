/* Tries to truncate every descriptor that it has, possibly including the shared memory. */
#include "tools.h"

static void cut(void) {
    for (int descriptor = 3; descriptor < 256; descriptor++) {
        if (ftruncate(descriptor, 0) < 0) continue;
    }
}

#define IN_NEXT cut();
#include "gallery.h"
