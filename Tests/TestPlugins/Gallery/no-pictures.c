/* Takes a slot in every call of `next`, and never gives a picture back. */
#define ALTER_ITEM return INLET_AGAIN;
#include "gallery.h"
