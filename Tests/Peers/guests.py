"""Peers in separate processes, forked from a process that has loaded aiortc. Each of them can be killed. Each shares
four numbers of its results with the parent, in memory."""
import asyncio
import mmap
import os
import signal
import struct
import threading
import time

import peer

# Numbers of read pictures, of pictures without a frame number, of numbers that did not increase, and of restarts.
FIGURES = struct.Struct("=4q")

_guests = {}
_jobs = []
_changed = threading.Condition()


def write(shared, figures):
    """Stores a guest's current figures. Called by the guest."""
    shared.seek(0)
    shared.write(FIGURES.pack(*figures))


def _fork(stay, message):
    shared = mmap.mmap(-1, FIGURES.size)
    child = os.fork()
    if child == 0:
        try:
            peer._libc.prctl(peer.PR_SET_PDEATHSIG, signal.SIGKILL)
            # The guest must not use the parent's standard input and output.
            devnull = os.open(os.devnull, os.O_RDWR)
            os.dup2(devnull, 0)
            os.dup2(devnull, 1)
            asyncio.run(stay(shared, message))
        finally:
            os._exit(0)
    return child, shared


def _join(message):
    """Makes the main thread start a guest, because children are killed when the thread that created them ends."""
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
        # Kills a guest whose threads keep it from ending.
        deadline = time.monotonic() + 3
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.01)
    return run


def serve(options, stay, begun):
    """Executes `join`, `kill`, `leave` and `report` forever. Each guest runs `stay(shared, message)` with the message
    of its `join`. `begun` is the name of the fourth figure in a report."""
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
