/* Needs a function that no library has. */
#include "tools.h"

void function_that_no_library_has(void);

#define IN_NEXT function_that_no_library_has();
#include "gallery.h"
