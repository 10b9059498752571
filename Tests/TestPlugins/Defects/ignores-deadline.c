/* deadline: With rate=1: next returned */
#define HEEDS_DEADLINE 0
#include "good.h"
