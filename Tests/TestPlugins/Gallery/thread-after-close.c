/* Leaves a thread that calls Inlet for ever. */
#include "tools.h"

static void *stay(void *argument) {
    const inlet_source_host *host = argument;
    for (;;) {
        inlet_demand demand = {.size = sizeof demand};
        host->get_demand(host->context, &demand);
        usleep(1000);
    }
    return NULL;
}

static void begin(const inlet_source_host *host) {
    static int begun;
    pthread_t thread;
    if (!begun++) pthread_create(&thread, NULL, stay, (void *)host);
}

#define IN_NEXT begin(host);
#include "gallery.h"
