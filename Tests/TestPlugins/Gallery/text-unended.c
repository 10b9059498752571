/* Fails with a message without a zero byte. */
#define IN_NEXT return memset(error->message, 'x', sizeof error->message), INLET_ERROR_INPUT_OUTPUT;
#include "gallery.h"
