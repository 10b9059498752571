/* Has none of the interfaces that Inlet knows. */
#define IN_GET_INTERFACE if (!strcmp(id, INLET_SOURCE_ID)) return NULL;
#include "gallery.h"
