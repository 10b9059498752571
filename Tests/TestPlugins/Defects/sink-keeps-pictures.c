/* sink: it touched memory of a picture after consume had returned */
#define IN_FINISH if (sink->kept) sink->sum += *(volatile const uint8_t *)sink->kept;
#define IN_CONSUME sink->kept = item->picture.planes[0].data;
#include "good-sink.h"
