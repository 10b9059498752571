/* States an interface without a size. */
#define INTERFACE_SIZE 0
#include "gallery.h"
