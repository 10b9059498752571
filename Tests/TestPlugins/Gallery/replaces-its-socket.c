/* Puts another descriptor where the connection to Inlet was. */
#define IN_NEXT dup2(open("/dev/null", O_RDWR), INLET_CHILD_SOCKET);
#include "gallery.h"
