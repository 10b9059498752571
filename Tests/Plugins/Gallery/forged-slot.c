/* Tells Inlet of a picture in a slot that it has not been given. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.slot = 77;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"
