/* items: called a system function that its manifest has no permission for */
#define IN_OPEN ptrace(PTRACE_TRACEME, 0, 0, 0);
#include "good.h"
