/* Returns an interface at an address that is not mapped. */
#define IN_GET_INTERFACE if (!strcmp(id, INLET_SOURCE_ID)) return (const void *)(uintptr_t)4096;
#include "gallery.h"
