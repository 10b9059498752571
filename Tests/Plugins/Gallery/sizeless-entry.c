/* States an entry of no size. */
#define ENTRY_SIZE 0
#include "gallery.h"
