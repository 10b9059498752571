/* leaks: next leaks memory: */
#define IN_NEXT if (source->count > 0) memset(malloc(3000), 1, 3000);
#include "good.h"
