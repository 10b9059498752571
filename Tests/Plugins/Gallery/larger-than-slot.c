/* Yields a picture that is larger than the one that it asked a slot for. */
#define ALTER_ITEM item->picture.width = 6400, item->picture.height = 4800;
#include "gallery.h"
