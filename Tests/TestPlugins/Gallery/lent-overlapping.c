/* Lends a picture whose rows overlap. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 0, 1);
#include "gallery.h"
