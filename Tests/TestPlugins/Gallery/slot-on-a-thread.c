/* Requests a slot on a separate thread. */
#include "tools.h"

static const inlet_source_host *host_of_all;
static inlet_error found;

static void *ask(void *argument) {
    inlet_slot slot = {.size = sizeof slot};
    inlet_result result = host_of_all->get_slot(host_of_all->context, "gray", 64, 48, &slot, &found);
    return (void *)((intptr_t)result | (intptr_t)argument);
}

static inlet_result beside(const inlet_source_host *host, inlet_error *error) {
    pthread_t thread;
    void *result = NULL;
    host_of_all = host;
    pthread_create(&thread, NULL, ask, NULL);
    pthread_join(thread, &result);
    *error = found;
    return (inlet_result)(intptr_t)result;
}

#define IN_NEXT return beside(host, error);
#include "gallery.h"
