/* Answers with an unknown result. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_wire_result forged = {.type = INLET_MESSAGE_RESULT, .result = 77};
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"
