/* errors (cancellation): open failed with -11 and left error->message empty. */
#define IN_OPEN if (inlet->now() >= deadline) return INLET_ERROR_TIMED_OUT;
#include "good.h"
