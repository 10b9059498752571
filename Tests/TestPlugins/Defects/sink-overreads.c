/* sink: consume crashed (SIGSEGV): it touched memory after plane 0 of its picture. */
#define ROWS(plane) (item->picture.height + 1)
#include "good-sink.h"
