/* States pictures of 0x0. */
#define ALTER_STREAM stream->width = stream->height = 0;
#include "gallery.h"
