#!/usr/bin/env python3
"""Runs a command under the restrictions of a systemd unit, on a machine without systemd.

Usage: unit-filter.py UNIT COMMAND [ARGUMENT...]

Applies, in the order of systemd 252 (src/core/execute.c, src/shared/seccomp-util.c): an empty CapabilityBoundingSet=,
NoNewPrivileges=, ProcSubset=pid, RestrictAddressFamilies=, MemoryDenyWriteExecute=, RestrictRealtime=,
RestrictNamespaces=, SystemCallArchitectures=native, and SystemCallFilter= with SystemCallErrorNumber=. Groups of system
calls are those that `systemd-analyze syscall-filter` prints. Other lines of the unit, such as its user and folders, are
ignored. Needs root and libseccomp.
"""
import ctypes
import errno
import os
import socket
import subprocess
import sys

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000  # seccomp.h: SCMP_ACT_ALLOW, _KILL_PROCESS, _ERRNO
EQUAL, GREATER, MASKED = 4, 6, 7  # enum scmp_compare
BAD_ARCHITECTURE = 2  # SCMP_FLTATR_ACT_BADARCH
NEW_NAMESPACE, MS_REC_PRIVATE, MS_LOCKED = 0x00020000, 0x44000, 0xE  # sched.h; mount.h: nosuid, nodev, noexec
DROP_BOUNDING, NO_NEW_PRIVILEGES = 24, 38  # linux/prctl.h
NAMESPACES = [0x02000000, 0x04000000, 0x08000000, 0x40000000, 0x00020000, 0x10000000, 0x20000000]  # CLONE_NEW...
WRITE_EXECUTE, EXECUTE, SHM_EXECUTE = 6, 4, 0o100000

libc = ctypes.CDLL(None, use_errno=True)
seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
seccomp.seccomp_init.restype = ctypes.c_void_p
seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
seccomp.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


seccomp.seccomp_rule_add_array.argtypes = [
    ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Comparison)]


def check(succeeded, what):
    if not succeeded:
        sys.exit(f"unit-filter: {what}: {os.strerror(ctypes.get_errno())}")


class Filter:
    def __init__(self, action):
        self.filter = seccomp.seccomp_init(action)
        self.default = action
        check(self.filter, "seccomp_init")

    def add(self, action, name, *comparisons):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        # A call of another architecture, or one newer than libseccomp.
        if number < 0 or action == self.default:
            return
        array = (Comparison * len(comparisons))(*comparisons)
        status = seccomp.seccomp_rule_add_array(self.filter, action, number, len(comparisons), array)
        check(status == 0, name)

    def load(self, of_other_architectures=ALLOW):
        seccomp.seccomp_attr_set(self.filter, BAD_ARCHITECTURE, of_other_architectures)
        check(seccomp.seccomp_load(self.filter) == 0, "seccomp_load")


def settings(path):
    """Returns the values of each setting of [Service], without those that an empty value resets."""
    found, section = {}, None
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line and line[0] not in "#;":
            name, value = line.split("=", 1)
            found[name] = found.get(name, []) + [value] if value else []
    return found


def groups():
    """Returns the groups of system calls, each with all of its members."""
    text = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True, check=True).stdout
    found, members = {}, []
    for line in text.splitlines():
        if line.startswith("@"):
            members = found.setdefault(line.strip(), [])
        elif line.startswith("    ") and not line.lstrip().startswith("#"):
            members.append(line.strip())

    def expanded(name):
        return {call for member in found[name] for call in (expanded(member) if member[0] == "@" else {member})}

    return {name: expanded(name) for name in found}


def filter_calls(lines, error, native):
    if not lines:
        return
    known = groups()
    allows = not lines[0].startswith("~")
    listed = set(known["@default"]) if allows else set()
    for line in lines:
        removes = line.startswith("~")
        for word in line.lstrip("~").split():
            calls = known[word] if word.startswith("@") else {word}
            listed = listed | calls if removes != allows else listed - calls
    refused = REFUSE | getattr(errno, error) if error else KILL
    # A call unknown to systemd fails as on a kernel without it.
    calls = Filter(REFUSE | errno.ENOSYS if allows else ALLOW)
    for name in listed if allows else []:
        calls.add(ALLOW, name)
    for name in known["@known"] - listed if allows else listed:
        calls.add(refused, name)
    calls.load(KILL if native else ALLOW)


def restrict_families(line):
    allowed = {int(getattr(socket, name)) for name in line.split()}
    families, refused = Filter(ALLOW), REFUSE | errno.EAFNOSUPPORT
    for number in set(range(64)) - allowed:
        families.add(refused, "socket", Comparison(0, EQUAL, number, 0))
    families.add(refused, "socket", Comparison(0, GREATER, 63, 0))
    families.load()


def deny_writable_code():
    memory, refused = Filter(ALLOW), REFUSE | errno.EPERM
    memory.add(refused, "mmap", Comparison(2, MASKED, WRITE_EXECUTE, WRITE_EXECUTE))
    for name in ["mprotect", "pkey_mprotect"]:
        memory.add(refused, name, Comparison(2, MASKED, EXECUTE, EXECUTE))
    memory.add(refused, "shmat", Comparison(2, MASKED, SHM_EXECUTE, SHM_EXECUTE))
    memory.load()


def restrict_realtime():
    scheduling, refused = Filter(ALLOW), REFUSE | errno.EPERM
    for policy in [1, 2, 6]:  # SCHED_FIFO, SCHED_RR, SCHED_DEADLINE
        scheduling.add(refused, "sched_setscheduler", Comparison(1, EQUAL, policy, 0))
    scheduling.load()


def restrict_namespaces():
    namespaces, refused = Filter(ALLOW), REFUSE | errno.EPERM
    namespaces.add(REFUSE | errno.ENOSYS, "clone3")
    namespaces.add(refused, "setns", Comparison(1, EQUAL, 0, 0))
    for flag in NAMESPACES:
        for name, argument in [("unshare", 0), ("clone", 0), ("setns", 1)]:
            namespaces.add(refused, name, Comparison(argument, MASKED, flag, flag))
    namespaces.load()


def main():
    unit = settings(sys.argv[1])

    def last(name):
        return (unit.get(name) or [""])[-1]

    if last("ProcSubset") == "pid":
        check(libc.unshare(NEW_NAMESPACE) == 0, "unshare")
        check(libc.mount(None, b"/", None, MS_REC_PRIVATE, None) == 0, "mount /")
        check(libc.mount(b"proc", b"/proc", b"proc", MS_LOCKED, b"subset=pid") == 0, "mount /proc")
    if unit.get("CapabilityBoundingSet") == []:
        for number in range(64):
            libc.prctl(DROP_BOUNDING, number, 0, 0, 0)
    if last("NoNewPrivileges") == "yes":
        check(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0, "prctl")
    if last("RestrictAddressFamilies"):
        restrict_families(last("RestrictAddressFamilies"))
    if last("MemoryDenyWriteExecute") == "yes":
        deny_writable_code()
    if last("RestrictRealtime") == "yes":
        restrict_realtime()
    if last("RestrictNamespaces") == "yes":
        restrict_namespaces()
    native = last("SystemCallArchitectures") == "native"
    filter_calls(unit.get("SystemCallFilter", []), last("SystemCallErrorNumber"), native)
    os.execvp(sys.argv[2], sys.argv[2:])


main()
