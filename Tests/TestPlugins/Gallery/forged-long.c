/* Sends Inlet a message longer than the maximum. */
#include "tools.h"

static inlet_result lie(void) {
    static const inlet_message forged[10000] = {{.type = INLET_MESSAGE_RESULT}};
    return forge(forged, sizeof forged);
}

#define IN_NEXT return lie();
#include "gallery.h"
