/* lending: The memory that next has lent changed when its source was closed, before it was released. */
#define LENDS
#define HELPERS \
    static void forget(void *memory) { (void)memory; } \
    static uint8_t *take(inlet_source *source, size_t length) { \
        if (!source->pool) source->pool = calloc(16, length); \
        return source->pool + source->count % 16 * length; \
    }
#define ALLOCATE(length) take(source, length)
#define RELEASE forget
#define IN_CLOSE free(source->pool); source->pool = NULL;
#include "good.h"
