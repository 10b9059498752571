/* load: The manifest declares a source, but the plug-in has no interface inlet.source/1. */
#define INTERFACE(id) ((void)&good_source, (void)id, NULL)
#include "good.h"
