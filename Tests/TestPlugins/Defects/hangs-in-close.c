/* items: close did not return within 6.0 s. */
#define IN_CLOSE for (;;) pause();
#include "good.h"
