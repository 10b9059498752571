/* Reports that it made an instance, and made none. */
#define IN_CREATE return (void)host, (void)source, (void)error, INLET_OK;
#include "gallery.h"
