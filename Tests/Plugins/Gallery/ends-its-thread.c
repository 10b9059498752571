/* Ends the thread that Inlet's questions come to. */
#define IN_NEXT pthread_exit(NULL);
#include "gallery.h"
