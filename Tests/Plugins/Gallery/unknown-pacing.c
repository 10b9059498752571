/* States a pacing that there is not. */
#define ALTER_STREAM stream->pacing = 99;
#include "gallery.h"
