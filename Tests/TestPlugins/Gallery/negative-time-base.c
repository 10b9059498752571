/* States a time base below zero. */
#define ALTER_STREAM stream->time_base = (inlet_rational){-1, 25};
#include "gallery.h"
