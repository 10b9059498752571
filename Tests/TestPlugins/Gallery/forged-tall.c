/* Reports a picture that has more rows than its slot. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.height = 16384;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"
