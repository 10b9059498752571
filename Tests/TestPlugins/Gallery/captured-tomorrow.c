/* States that the picture was taken tomorrow. */
#define ALTER_ITEM item->capture_time = inlet->now() + INT64_C(86400000000000);
#include "gallery.h"
