/* Stops its process by SIGSTOP. */
#define IN_NEXT raise(SIGSTOP);
#include "gallery.h"
