/* States an interface of no size. */
#define INTERFACE_SIZE 0
#include "gallery.h"
