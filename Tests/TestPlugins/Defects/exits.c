/* items: next ended the process with exit(). */
#define IN_NEXT if (source->count == 3) exit(3);
#include "good.h"
