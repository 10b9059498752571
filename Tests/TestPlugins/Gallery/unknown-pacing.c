/* States an unknown pacing. */
#define ALTER_STREAM stream->pacing = 99;
#include "gallery.h"
