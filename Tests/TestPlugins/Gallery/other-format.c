/* Yields its picture in another pixel format than that of its requested slot. */
#define ALTER_ITEM strcpy(item->picture.pixel_format, "rgba");
#include "gallery.h"
