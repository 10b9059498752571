/* Has no function that returns interfaces. */
#define ENTRY_GET_INTERFACE NULL
#include "gallery.h"
