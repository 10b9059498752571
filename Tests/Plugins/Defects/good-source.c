/* none: */
#include "good.h"
