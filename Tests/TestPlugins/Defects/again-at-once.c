/* items: next returned INLET_AGAIN 20 times long before its deadline. */
#define EARLY_AGAIN 1
#include "good.h"
