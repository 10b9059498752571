/* Yields a slot that it was not given. */
#define ALTER_ITEM item->picture.slot = 63;
#include "gallery.h"
