/* init: get_interface crashed (SIGSEGV) */
#define IN_INIT if (!state) state = calloc(1, sizeof *state);
#define IN_DEINIT free(state); state = NULL;
#define INTERFACE(id) (++*(volatile int *)state, strcmp(id, INLET_SOURCE_ID) ? NULL : &good_source)
static int *state;
#include "good.h"
