/* States a time base of 0/0. */
#define ALTER_STREAM stream->time_base = (inlet_rational){0, 0};
#include "gallery.h"
