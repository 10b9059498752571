/* sink-leaks: Starting, one item and finishing leaves something behind that runs out: */
#define IN_START if (dup(0) < 0) { \
        strcpy(error->message, "No descriptor is left."); \
        return INLET_ERROR_RESOURCE_EXHAUSTED; \
    }
#include "good-sink.h"
