/* Reports a picture without a format. */
#include "tools.h"

static inlet_result lie(inlet_wire_item forged) {
    memset(forged.pixel_format, 0, sizeof forged.pixel_format);
    return forge(&forged, sizeof forged);
}

#define ALTER_ITEM return lie(honest(item, &slot));
#include "gallery.h"
