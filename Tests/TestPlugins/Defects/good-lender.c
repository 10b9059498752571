/* none: */
#define LENDS
#include "good.h"
