/* Lends a picture, and crashes when it is released. */
#include "tools.h"

static void release(void *data) { *(int *)data = 1; }

#define ALTER_ITEM lend(item, kept = malloc(64 * 48), 64 * 48, 0, 64), item->release = release;
#include "gallery.h"
