/* Needs a later minor version. */
#define ENTRY_MINOR 999
#include "gallery.h"
