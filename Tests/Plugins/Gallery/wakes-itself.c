/* Makes its own wake descriptor readable, as if Inlet had cancelled it. */
#include "tools.h"

static void wake(int descriptor) {
    const uint64_t one = 1;
    if (write(descriptor, &one, sizeof one) < 0) abort();
}

#define IN_NEXT wake(host->wake_fd);
#include "gallery.h"
