/* States a frame rate that is not a number: INT32_MIN over -1. */
#define ALTER_STREAM stream->frame_rate = (inlet_rational){INT32_MIN, -1};
#include "gallery.h"
