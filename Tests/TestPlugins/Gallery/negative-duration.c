/* States a duration below zero. */
#define ALTER_ITEM item->duration = -1;
#include "gallery.h"
