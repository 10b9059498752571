"""Peers that are processes of their own, forked from one that has loaded aiortc, and can be killed one by one. Each has
four numbers in memory that it shares with its parent: what it has seen."""
import asyncio
import mmap
import os
import signal
import struct
import threading
import time

import peer

# Pictures read, pictures without a number, numbers that did not rise, and how often it began anew.
FIGURES = struct.Struct("=4q")

_guests = {}
_jobs = []
_changed = threading.Condition()


def write(shared, figures):
    """Called by a guest: its figures so far."""
    shared.seek(0)
    shared.write(FIGURES.pack(*figures))


def _fork(stay, message):
    shared = mmap.mmap(-1, FIGURES.size)
    child = os.fork()
    if child == 0:
        try:
            peer._libc.prctl(peer.PR_SET_PDEATHSIG, signal.SIGKILL)
            # What the parent reads and writes is not its own.
            devnull = os.open(os.devnull, os.O_RDWR)
            os.dup2(devnull, 0)
            os.dup2(devnull, 1)
            asyncio.run(stay(shared, message))
        finally:
            os._exit(0)
    return child, shared


def _join(message):
    """Has the main thread start a guest, as children die with the thread that made them."""
    with _changed:
        _jobs.append(message)
        _changed.notify_all()
        while message in _jobs:
            _changed.wait(5)
    return {"pid": _guests[message["name"]][0]}


def _end(number):
    def run(message):
        child, _ = _guests.pop(message["name"])
        os.kill(child, number)
        # One whose threads keep it from leaving is killed.
        deadline = time.monotonic() + 3
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.01)
    return run


def serve(options, stay, begun):
    """Obeys `join`, `kill`, `leave` and `report` for ever. Each guest runs `stay(shared, message)` of its `join`;
    `begun` is what a report calls the fourth figure."""
    def report(message):
        _, shared = _guests[message["name"]]
        shared.seek(0)
        count, unread, fallen, beginnings = FIGURES.unpack(shared.read(FIGURES.size))
        return {"count": count, "unread": unread, "fallen": fallen, begun: beginnings}

    peer.serve(options, {
        "join": _join, "kill": _end(signal.SIGKILL), "leave": _end(signal.SIGTERM), "report": report}, {})
    while True:
        with _changed:
            while not _jobs:
                _changed.wait()
            message = _jobs[0]
            _guests[message["name"]] = _fork(stay, message)
            _jobs.pop(0)
            _changed.notify_all()
