/* Reports a picture of 0x0. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.width = forged.height = 0;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"
