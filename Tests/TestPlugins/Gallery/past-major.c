/* Is built for a major version that is no longer supported. */
#define ENTRY_MAJOR 0
#include "gallery.h"
