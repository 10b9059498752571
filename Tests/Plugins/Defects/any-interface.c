/* interfaces: get_interface returned something for the id '' */
#define INTERFACE(id) (strcmp(id, INLET_SINK_ID) ? &good_source : NULL)
#include "good.h"
