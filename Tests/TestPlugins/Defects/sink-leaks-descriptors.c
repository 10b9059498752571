/* sink-leaks: Starting, one item and finishing leaks a limited resource: */
#define IN_START if (dup(0) < 0) { \
        strcpy(error->message, "No descriptor is left."); \
        return INLET_ERROR_RESOURCE_EXHAUSTED; \
    }
#include "good-sink.h"
