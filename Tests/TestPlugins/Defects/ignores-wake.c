/* cancellation: With rate=1: next returned */
#define HEEDS_WAKE 0
#include "good.h"
