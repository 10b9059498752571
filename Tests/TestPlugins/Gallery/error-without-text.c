/* Fails without a message. */
#define IN_NEXT return INLET_ERROR_INPUT_OUTPUT;
#include "gallery.h"
