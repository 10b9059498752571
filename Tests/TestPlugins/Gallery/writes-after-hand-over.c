/* Continues to write to every slot after handing it over. */
#include "tools.h"

static uint8_t *volatile memory;

static void *scribble(void *argument) {
    for (uint8_t value = 0;; value++) {
        if (memory) memset(memory, value, 64 * 48);
    }
    return argument;
}

static void begin(void) {
    static int begun;
    pthread_t thread;
    if (!begun++) pthread_create(&thread, NULL, scribble, NULL);
}

#define ALTER_ITEM begin(), memory = slot.planes[0].data;
#include "gallery.h"
