/* Refuses to start without a reason. */
#define IN_INIT return INLET_ERROR_PLUGIN;
#include "gallery.h"
