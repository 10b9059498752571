/* interfaces: get_interface returned a pointer for the unknown id '' */
#define INTERFACE(id) (strcmp(id, INLET_SINK_ID) ? &good_source : NULL)
#include "good.h"
