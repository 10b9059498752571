/* Reports a picture in a memory that does not exist. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    forged.segment = 12345;
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"
