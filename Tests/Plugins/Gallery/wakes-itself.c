/* Writes to its own wake descriptor, so that it would seem to be cancelled by Inlet. */
#include "tools.h"

/* That it fails is what Inlet relies on: the plug-in has the end for reading. */
static void wake(int descriptor) {
    const uint64_t one = 1;
    if (write(descriptor, &one, sizeof one) < 0) return;
}

#define IN_NEXT wake(host->wake_fd);
#include "gallery.h"
