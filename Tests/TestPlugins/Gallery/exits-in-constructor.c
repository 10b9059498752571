/* Ends its process with exit code 0 as it is loaded. */
#define IN_CONSTRUCTOR _exit(0);
#include "gallery.h"
