/* Begins with another magic number. */
#define ENTRY_MAGIC 0x12345678
#include "gallery.h"
