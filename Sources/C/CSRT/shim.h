#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <srt/access_control.h>
#include <srt/srt.h>

// Macros that Swift cannot import.
static const int inlet_srt_log_flags =
    SRT_LOGF_DISABLE_TIME | SRT_LOGF_DISABLE_THREADNAME | SRT_LOGF_DISABLE_SEVERITY | SRT_LOGF_DISABLE_EOL;
