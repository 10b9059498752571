/* Yields PTS that go backwards. */
#define ALTER_ITEM item->pts = 1000 - (int64_t)source->count;
#include "gallery.h"
