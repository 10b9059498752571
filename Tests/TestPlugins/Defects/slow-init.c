/* init: init took */
#define IN_INIT wait_for(150000000);
#include "good.h"
