/* States a rotation of 45 degrees. */
#define ALTER_STREAM stream->rotation = 45;
#include "gallery.h"
