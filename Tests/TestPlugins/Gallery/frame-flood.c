/* Yields pictures as fast as it can, for ever. */
#define IN_NEXT source->start = 0;
#include "gallery.h"
