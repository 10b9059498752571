/* lending: The memory that next has lent changed while next was called again, before it was released. */
#define LENDS
#define HELPERS \
    static void forget(void *memory) { (void)memory; } \
    static uint8_t *take(inlet_source *source, size_t length) { \
        if (!source->pool) source->pool = malloc(length); \
        return source->pool; \
    }
#define ALLOCATE(length) take(source, length)
#define RELEASE forget
#define IN_DESTROY free(source->pool);
#include "good.h"
