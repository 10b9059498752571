/* none: */
#include "good-sink.h"
