/* States pictures of 4294967295x4294967295. */
#define ALTER_STREAM stream->width = stream->height = UINT32_MAX;
#include "gallery.h"
