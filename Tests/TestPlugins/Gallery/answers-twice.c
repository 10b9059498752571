/* Answers without a request, so that every answer is one request late. */
#include "tools.h"

static void answer(inlet_wire_item forged) {
    send(INLET_CHILD_SOCKET, &forged, sizeof forged, MSG_NOSIGNAL);
}

#define ALTER_ITEM answer(honest(item, &slot)), item->sequence += 1;
#include "gallery.h"
