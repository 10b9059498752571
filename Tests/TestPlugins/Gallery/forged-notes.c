/* Sends notes to Inlet without end. */
#include "tools.h"

static inlet_result lie(void) {
    inlet_message forged = {.type = INLET_MESSAGE_PROGRESS};
    while (send(INLET_CHILD_SOCKET, &forged, sizeof forged, MSG_NOSIGNAL) >= 0) {}
    hang();
    return INLET_AGAIN;
}

#define IN_NEXT return lie();
#include "gallery.h"
