/* leaks: create and destroy leaks memory: */
#define IN_DESTROY return;
#include "good.h"
