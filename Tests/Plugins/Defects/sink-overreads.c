/* sink: consume crashed (SIGSEGV): it touched memory behind plane 0 of the picture that it was given. */
#define ROWS(plane) (item->picture.height + 1)
#include "good-sink.h"
