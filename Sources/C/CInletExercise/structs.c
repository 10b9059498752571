#include "exercise.h"

#include <string.h>

enum { CANARY = 0xa5 };

void prepare(void *place, size_t size) {
    memset(place, 0, size + FUTURE);
    memset((uint8_t *)place + size + FUTURE, CANARY, BEYOND);
    uint32_t stated = (uint32_t)(size + FUTURE);
    memcpy(place, &stated, sizeof stated);
}

void check_struct(const void *place, size_t size, const char *function, const char *name) {
    const uint8_t *bytes = place;
    uint32_t stated;
    memcpy(&stated, bytes, sizeof stated);
    if (stated < 8)
        FAIL("%s left %s->size at %u, but it was %zu before. Set single fields instead of the whole struct.", function,
            name, stated, size + FUTURE);
    for (size_t i = 0; i < FUTURE; i++)
        if (bytes[size + i])
            FAIL("%s wrote to byte %zu of %s, whose struct ends at %zu in version %d.%d. Write to the fields that the "
                 "header has, and not beyond them.",
                function, size + i, name, size, INLET_PLUGIN_MAJOR, INLET_PLUGIN_MINOR);
    for (size_t i = 0; i < BEYOND; i++)
        if (bytes[size + FUTURE + i] != CANARY)
            FAIL("%s wrote beyond %s: to byte %zu of a struct whose size is %zu.", function, name, size + FUTURE + i,
                size + FUTURE);
}

/* Whether zero-terminated text is UTF-8. */
static int is_utf8(const char *text) {
    const uint8_t *byte = (const uint8_t *)text;
    while (*byte) {
        int more = *byte < 0x80 ? 0 : *byte >= 0xc2 && *byte < 0xe0 ? 1 : (*byte & 0xf0) == 0xe0 ? 2
            : *byte >= 0xf0 && *byte < 0xf5 ? 3 : -1;
        if (more < 0) return 0;
        for (byte++; more > 0; more--, byte++)
            if ((*byte & 0xc0) != 0x80) return 0;
    }
    return 1;
}

void check_result(inlet_result result, int positive, const padded_error *error, const char *function) {
    check_struct(error, sizeof error->value, function, "error");
    if (result > positive || result < INLET_ERROR_CANCELLED)
        FAIL("%s returned %d, which is not one of its inlet_result values.", function, result);
    if (result >= 0) return;
    const char *message = error->value.message;
    if (!memchr(message, 0, sizeof error->value.message))
        FAIL("%s failed with %d, and error->message has no zero byte at its end. Use snprintf.", function, result);
    if (!is_utf8(message))
        FAIL("%s failed with %d, and error->message is not UTF-8. Convert or omit it.", function, result);
    if (!*message && result != INLET_ERROR_CANCELLED)
        FAIL("%s failed with %d and left error->message empty. Write a sentence: what failed, and what to try.",
            function, result);
    if (error->value.retry_after < 0)
        FAIL("%s failed with %d and error->retry_after %lld. Set a time in nanoseconds, or 0.", function, result,
            (long long)error->value.retry_after);
}
