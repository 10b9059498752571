/* sizes (options): With size=63x49: next did not write row 24 of plane 1 of its slot */
#define ROWS(plane) ((plane) ? source->height / 2 : source->height)
#include "good.h"
