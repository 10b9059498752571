/* Counts drops for a reason that is not one word. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_note forged = {.type = INLET_MESSAGE_DROP, .count = UINT64_MAX, .text = "not one word"};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"
