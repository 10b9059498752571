/* output: lines within a second; beyond 100 they are not written. */
#define IN_NEXT for (int i = 0; i < 50; i++) inlet->log(INLET_LOG_INFO, "a picture");
#include "good.h"
