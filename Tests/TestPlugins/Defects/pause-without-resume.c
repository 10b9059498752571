/* interfaces: The source has pause without resume. */
#define RESUME NULL
#include "good.h"
