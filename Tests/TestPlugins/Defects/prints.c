/* output: The plug-in wrote to standard output */
#define IN_NEXT printf("picture %d\n", (int)source->count), fflush(stdout);
#include "good.h"
