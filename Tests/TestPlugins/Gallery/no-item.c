/* Returns success without an item. */
#define ALTER_ITEM memset(&item->picture, 0, sizeof item->picture);
#include "gallery.h"
