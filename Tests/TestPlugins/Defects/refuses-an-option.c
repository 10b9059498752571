/* options: The manifest allows rate=200, but the plug-in refuses it: */
#define IN_CREATE if (source->rate > 120) { \
        free(source); \
        return fail(error, INLET_ERROR_INVALID_CONFIGURATION, "The rate is not possible. Take one up to 120."); \
    }
#include "good.h"
