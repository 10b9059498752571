/* Answers with an error whose message is not UTF-8. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_wire_result forged = {.type = INLET_MESSAGE_RESULT, .result = INLET_ERROR_BUSY};
    memset(forged.message, 0xff, sizeof forged.message);
    return forge(&forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"
