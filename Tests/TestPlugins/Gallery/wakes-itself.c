/* Writes to its own wake descriptor, which would look like a cancellation by Inlet. */
#include "tools.h"

/* Inlet relies on the failure: the plug-in has only the reading end. */
static void wake(int descriptor) {
    const uint64_t one = 1;
    if (write(descriptor, &one, sizeof one) < 0) return;
}

#define IN_NEXT wake(host->wake_fd);
#include "gallery.h"
