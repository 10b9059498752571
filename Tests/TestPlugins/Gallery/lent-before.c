/* Lends a picture that is stored bottom up and begins before its memory. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 64, -64);
#include "gallery.h"
