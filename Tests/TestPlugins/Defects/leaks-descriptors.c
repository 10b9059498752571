/* leaks: Opening and closing leaks a limited resource: */
#define IN_OPEN \
    if (open("/dev/null", O_RDONLY) < 0) return fail(error, INLET_ERROR_RESOURCE_EXHAUSTED, "No descriptor.");
#include "good.h"
