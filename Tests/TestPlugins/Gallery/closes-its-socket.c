/* Closes the connection to Inlet. */
#define IN_NEXT close(INLET_CHILD_SOCKET);
#include "gallery.h"
