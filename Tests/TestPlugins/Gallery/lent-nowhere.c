/* Lends a picture without an address. */
#define ALTER_ITEM lend(item, NULL, 64 * 48, 0, 64);
#include "gallery.h"
