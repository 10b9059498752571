/* States a gigabyte of parameter sets, and no address. */
#define ALTER_STREAM stream->parameter_sets_length = 1 << 30;
#include "gallery.h"
