/* symbols: exports 1 symbol besides inlet_plugin_entry: acme_helper */
__attribute__((visibility("default"))) int acme_helper(void);
int acme_helper(void) { return 0; }
#include "good.h"
