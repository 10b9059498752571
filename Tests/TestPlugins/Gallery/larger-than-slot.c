/* Yields a larger picture than the one for which it requested a slot. */
#define ALTER_ITEM item->picture.width = 6400, item->picture.height = 4800;
#include "gallery.h"
