/* Is built for a later major version. */
#define ENTRY_MAJOR (INLET_PLUGIN_MAJOR + 1)
#include "gallery.h"
