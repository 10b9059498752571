/* Yields its picture in another pixel format than it asked a slot for. */
#define ALTER_ITEM strcpy(item->picture.pixel_format, "rgba");
#include "gallery.h"
