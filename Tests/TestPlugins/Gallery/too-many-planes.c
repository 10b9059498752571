/* Lends a picture with more planes than there is room for. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 0, 64), item->picture.plane_count = 4000000000;
#include "gallery.h"
