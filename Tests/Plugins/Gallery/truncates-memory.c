/* Tries to cut off every descriptor that it has, among which may be the shared memory. */
#include "tools.h"

static void cut(void) {
    for (int descriptor = 3; descriptor < 256; descriptor++) {
        if (ftruncate(descriptor, 0) < 0) continue;
    }
}

#define IN_NEXT cut();
#include "gallery.h"
