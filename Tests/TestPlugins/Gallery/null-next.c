/* Has no function `next`. */
#include "tools.h"

#define INTERFACE_NEXT NULL
#define gallery_next __attribute__((unused)) gallery_next
#include "gallery.h"
