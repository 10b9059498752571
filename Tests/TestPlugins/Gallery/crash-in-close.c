/* Writes to address 0 in `close`. */
#define IN_CLOSE crash();
#include "gallery.h"
