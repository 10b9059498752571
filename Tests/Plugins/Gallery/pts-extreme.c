/* Gives PTS of the greatest and least numbers in turn. */
#define ALTER_ITEM item->pts = source->count % 2 ? INT64_MAX : INT64_MIN + 1, item->duration = INT64_MAX;
#include "gallery.h"
