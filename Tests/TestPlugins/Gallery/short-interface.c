/* States an interface that ends before `next`. */
#define INTERFACE_SIZE 24
#include "gallery.h"
