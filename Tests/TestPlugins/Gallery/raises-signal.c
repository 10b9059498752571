/* Sends itself a signal that ends the process. */
#define IN_NEXT raise(SIGTERM);
#include "gallery.h"
