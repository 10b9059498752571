/* Lends a picture in a format that there is not. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 0, 64), strcpy(item->picture.pixel_format, "zebra");
#include "gallery.h"
