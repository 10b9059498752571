#pragma once

#include <seccomp.h>

// What libseccomp writes as macros with parameters, which Swift does not read.
static inline uint32_t inlet_seccomp_refuse(uint16_t error) { return SCMP_ACT_ERRNO(error); }
static inline uint32_t inlet_seccomp_kill(void) { return SCMP_ACT_KILL_PROCESS; }
static inline uint32_t inlet_seccomp_allow(void) { return SCMP_ACT_ALLOW; }
