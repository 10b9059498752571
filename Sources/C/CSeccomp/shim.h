#pragma once

#include <linux/seccomp.h>
#include <seccomp.h>

// libseccomp's macros with parameters, which Swift cannot import.
static inline uint32_t inlet_seccomp_refuse(uint16_t error) { return SCMP_ACT_ERRNO(error); }
static inline uint32_t inlet_seccomp_kill(void) { return SCMP_ACT_KILL_PROCESS; }
static inline uint32_t inlet_seccomp_allow(void) { return SCMP_ACT_ALLOW; }
static inline uint32_t inlet_seccomp_ask(void) { return SCMP_ACT_NOTIFY; }

// Lets the system continue the reported call: SECCOMP_USER_NOTIF_FLAG_CONTINUE of linux/seccomp.h.
static inline uint32_t inlet_seccomp_continue(void) { return 1; }
