/* Writes to address 0 in its constructor, which runs as the library is loaded. */
#define IN_CONSTRUCTOR crash();
#include "gallery.h"
