/* Yields a picture of 0x0 in its slot. */
#define ALTER_ITEM item->picture.width = item->picture.height = 0;
#include "gallery.h"
