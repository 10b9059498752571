/* States a pixel format without a zero byte. */
#define ALTER_STREAM memset(stream->pixel_format, 'x', sizeof stream->pixel_format);
#include "gallery.h"
