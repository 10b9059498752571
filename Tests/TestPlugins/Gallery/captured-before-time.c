/* States that the picture was taken before the clock began. */
#define ALTER_ITEM item->capture_time = -5;
#include "gallery.h"
