/* Yields a picture that is rotated by 45 degrees. */
#define ALTER_ITEM item->picture.rotation = 45;
#include "gallery.h"
