/* Lends a picture at an address that is not mapped. */
#define ALTER_ITEM lend(item, (void *)(uintptr_t)4096, 64 * 48, 0, 64);
#include "gallery.h"
