/* leaks: Opening and closing leaks memory: */
#define IN_OPEN source->lent = malloc(1000); memset(source->lent, 1, 1000);
#include "good.h"
