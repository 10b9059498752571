/* sink: consume took */
#define IN_CONSUME wait_for(250000000);
#include "good-sink.h"
