/* Answers with an unknown error. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_wire_result forged = {.type = INLET_MESSAGE_RESULT, .result = -1000};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"
