/* sink: consume changed byte */
#define IN_CONSUME memset(item->picture.planes[0].data, 0, item->picture.width);
#include "good-sink.h"
