/* Yields a picture that is turned by 45 degrees. */
#define ALTER_ITEM item->picture.rotation = 45;
#include "gallery.h"
