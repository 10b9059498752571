/* Ends the thread that receives Inlet's requests. */
#define IN_NEXT pthread_exit(NULL);
#include "gallery.h"
