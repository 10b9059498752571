/* Counts absurd drops. */
#define IN_NEXT host->count_drop(host->context, "a reason of many words, which is not one word", UINT64_MAX);
#include "gallery.h"
