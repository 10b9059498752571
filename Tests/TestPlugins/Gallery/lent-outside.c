/* Lends a picture whose last row is after its memory. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 1, 64);
#include "gallery.h"
