/* Alternates between the largest and the smallest PTS. */
#define ALTER_ITEM item->pts = source->count % 2 ? INT64_MAX : INT64_MIN + 1, item->duration = INT64_MAX;
#include "gallery.h"
