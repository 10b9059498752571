/* leaks: Opening and closing leaks a limited resource: */
#define HELPERS static void *idle(void *data) { for (;;) pause(); return data; }
#define IN_OPEN pthread_attr_t small; pthread_attr_init(&small); pthread_attr_setstacksize(&small, 65536); \
    if (pthread_create(&source->thread, &small, idle, NULL)) \
        return fail(error, INLET_ERROR_RESOURCE_EXHAUSTED, "No thread.");
#include "good.h"
