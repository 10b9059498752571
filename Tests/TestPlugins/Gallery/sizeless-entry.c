/* States an entry without a size. */
#define ENTRY_SIZE 0
#include "gallery.h"
