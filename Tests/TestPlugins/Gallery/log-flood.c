/* Writes a hundred thousand lines to the log for every picture. */
#define IN_NEXT for (int i = 0; i < 100000; i++) inlet->log(INLET_LOG_INFO, "a line that nobody asked for");
#include "gallery.h"
