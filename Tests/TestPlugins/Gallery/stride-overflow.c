/* Lends a picture whose stride overflows when it is multiplied by the height. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 0, INT64_MAX);
#include "gallery.h"
