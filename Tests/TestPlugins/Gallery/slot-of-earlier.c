/* Yields the slot of the picture before again, without requesting one. */
#include "tools.h"

static inlet_result again(inlet_item *item) {
    item->sequence = item->pts = 100;
    item->picture.width = 64;
    item->picture.height = 48;
    strcpy(item->picture.pixel_format, "yuv420p");
    item->picture.is_in_slot = 1;
    return INLET_OK;
}

#define IN_NEXT return again(item);
#include "gallery.h"
