/* Reports a picture whose rows overlap. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.planes[0].stride = 1;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"
