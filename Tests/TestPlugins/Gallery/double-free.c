/* Frees memory twice. */
#define IN_NEXT kept = malloc(100), free(kept), free(kept);
#include "gallery.h"
