/* errors (init leaks): destroy crashed (SIGSEGV) */
#define IN_DESTROY if (!source->is_open) *(volatile int *)(uintptr_t)source->lent = 1;
#include "good.h"
