/* Reports a picture in a slot that it was not given. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.slot = 77;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"
