/* leaks: Opening and closing leaves descriptors open: */
#define IN_OPEN wait_for(30000000); \
    if (open("/dev/null", O_RDONLY) < 0) return fail(error, INLET_ERROR_RESOURCE_EXHAUSTED, "No descriptor.");
#include "good.h"
