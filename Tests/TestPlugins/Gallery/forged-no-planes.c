/* Reports a picture without planes. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.plane_count = 0;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"
