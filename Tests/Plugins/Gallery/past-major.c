/* Was built for a major version that is no longer served. */
#define ENTRY_MAJOR 0
#include "gallery.h"
