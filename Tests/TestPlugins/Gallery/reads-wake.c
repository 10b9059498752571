/* Drains its wake descriptor for ever. Inlet can stop it all the same. */
#include "tools.h"

static void *swallow(void *argument) {
    for (;;) {
        uint64_t count;
        if (read((int)(intptr_t)argument, &count, sizeof count) < 0) usleep(100);
    }
    return NULL;
}

static void begin(int descriptor) {
    static int begun;
    pthread_t thread;
    if (!begun++) pthread_create(&thread, NULL, swallow, (void *)(intptr_t)descriptor);
}

#define IN_NEXT begin(host->wake_fd);
#include "gallery.h"
