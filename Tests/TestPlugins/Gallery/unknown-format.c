/* Lends a picture in an unknown format. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 0, 64), strcpy(item->picture.pixel_format, "zebra");
#include "gallery.h"
