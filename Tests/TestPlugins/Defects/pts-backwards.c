/* items: PTS rises with each picture, except at INLET_FLAG_DISCONTINUITY. */
#define ALTER_ITEM if (source->count % 5 == 4) item->pts += 4; else if (source->count % 5 == 0) item->pts++;
#include "good.h"
