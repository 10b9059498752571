/* States an entry that is too short. */
#define ENTRY_SIZE 24
#include "gallery.h"
