/* Lends a picture in a format whose name is not UTF-8. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 0, 64), memset(item->picture.pixel_format, 0xff, 24);
#include "gallery.h"
