/* Never returns from its constructor, which runs as the library is loaded. */
#define IN_CONSTRUCTOR hang();
#include "gallery.h"
