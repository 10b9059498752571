/* items: get_slot was called on another thread than next. */
#define HELPERS \
    static void *ask(void *data) { \
        inlet_source *source = data; \
        inlet_slot slot = {.size = sizeof slot}; \
        inlet_error error = {.size = sizeof error}; \
        source->host->get_slot(source->host->context, "yuv420p", 64, 48, &slot, &error); \
        return NULL; \
    }
#define IN_NEXT pthread_create(&source->thread, NULL, ask, source), pthread_join(source->thread, NULL);
#include "good.h"
