/* cancellation: next read or closed wake_fd. */
#define IN_CANCELLATION uint64_t times; if (read(source->host->wake_fd, &times, sizeof times) < 0) return -12;
#include "good.h"
