/* Fails with a message that is not UTF-8. */
#define IN_NEXT return fail(error, INLET_ERROR_INPUT_OUTPUT, "\xff\xfe\xc3 \x1b[2J");
#include "gallery.h"
