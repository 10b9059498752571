/* Lends a picture whose offsets overflow every sum. */
#define ALTER_ITEM lend(item, kept = malloc(64 * 48), UINT64_MAX, UINT64_MAX, INT64_MIN);
#include "gallery.h"
