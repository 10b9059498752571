/* Starts threads until none can be started. */
#include "tools.h"

static void *stay(void *argument) {
    hang();
    return argument;
}

static inlet_result spawn(inlet_error *error) {
    for (int i = 0; i < 10000; i++) {
        pthread_t thread;
        errno = pthread_create(&thread, NULL, stay, NULL);
        if (errno) return tell(error, "Starting a thread", 1);
    }
    return tell(error, "Starting 10000 threads", 0);
}

#define IN_NEXT return spawn(error);
#include "gallery.h"
