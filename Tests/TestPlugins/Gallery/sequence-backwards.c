/* Numbers its pictures backwards. */
#define ALTER_ITEM item->sequence = 1;
#include "gallery.h"
