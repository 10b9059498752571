/* none: */
/* A stream of five pictures, which come at once. */
#define IN_OPEN source->start -= INT64_C(10000000000); stream->pacing = INLET_PACING_NONE;
#define IN_NEXT if (source->count >= 5) return INLET_END;
#include "good.h"
