"""The side of Inlet, for tests of plug-ins that speak the protocol themselves.

The messages are packed here by separate formats, not by those of inlet_plugin.py, so that a mistake there shows.
"""

import array
import fcntl
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CREATE, OPEN, NEXT, PAUSE, RESUME, CLOSE, SEGMENT, START, CONSUME = range(1, 10)
RESULT, OPENED, ITEM, NEED_SEGMENT, PROGRESS, DROP, INTERRUPTION, LOG, KEY_FRAME = range(101, 110)
NO_TIME = -(1 << 63)
SOURCE, SINK = 1, 2
SLOTS = 4
ITEM_FORMAT = "=IIIIIIIIQqqqqqQ24s2i4BI8qIIq"
STREAM_FORMAT = "=IIII24s24s2i2i2i4BIIIqIIq"


class Host:
    """A child process of a plug-in, and Inlet's side of its connection."""

    def __init__(self, command, environment=None, seconds=20):
        self.seconds = seconds
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(seconds)
        self.wake = os.eventfd(0, os.EFD_CLOEXEC)
        self.notes, self.segments, self.free = [], 0, 0
        self.memory = self.slot_length = None
        # The socket is moved away from descriptor 3, which the shell then makes of it.
        high = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD, 10)
        self.child = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$@" 3<&{high} {high}<&-', "bash", *command], pass_fds=[high],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env={
                "PATH": os.environ.get("PATH", "/usr/bin"), "PYTHONPATH": str(ROOT / "Python/inlet_plugin"),
                **(environment or {})})
        os.close(high)
        theirs.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        self.child.stderr.close()
        self.socket.close()
        os.close(self.wake)

    def send(self, message, descriptors=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.socket.sendmsg([message], rights)

    def receive(self):
        """The next answer. Notes before it are kept; a request for a segment is served."""
        while True:
            data = self.socket.recv(131072)
            if not data:
                raise EOFError
            kind = struct.unpack_from("=I", data)[0]
            if kind == NEED_SEGMENT:
                self.give_segment(struct.unpack_from("=IIQ", data)[2])
            elif kind >= PROGRESS:
                self.notes.append(data)
            else:
                return data

    def give_segment(self, slot_length):
        assert slot_length % 4096 == 0, slot_length
        self.segments += 1
        memory = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(memory, slot_length * SLOTS)
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        self.memory = mmap.mmap(memory, slot_length * SLOTS)
        self.slot_length, self.free = slot_length, (1 << SLOTS) - 1
        self.send(struct.pack("=IIQII", SEGMENT, self.segments, slot_length, SLOTS, 0), [memory])
        os.close(memory)

    def deadline(self, seconds=None):
        return time.monotonic_ns() + int((seconds or self.seconds) * 1e9)

    def create(self, kind=SOURCE, options=(), scheme="test", address="here", major=1):
        texts = [scheme, address] + [text for pair in options for text in pair]
        message = struct.pack("=IIHHI", CREATE, kind, major, 0, len(options))
        self.send(message + b"".join(text.encode() + b"\0" for text in texts), [self.wake])
        return Result(self.receive())

    def ask(self, kind, seconds=None):
        self.send(struct.pack("=IIq", kind, 0, self.deadline(seconds)))

    def open(self):
        self.ask(OPEN)
        data = self.receive()
        return Stream(data) if struct.unpack_from("=I", data)[0] == OPENED else Result(data)

    def ask_next(self, seconds=None, demand=(1, 0, 0, 30, 1, 640, 480)):
        self.send(struct.pack(
            "=IIqQI3I2i2I", NEXT, 0, self.deadline(seconds), self.free, 32, *demand))

    def next(self, **options):
        self.ask_next(**options)
        data = self.receive()
        return Item(self, data) if struct.unpack_from("=I", data)[0] == ITEM else Result(data)

    def cancel(self):
        os.eventfd_write(self.wake, 1)

    def close(self):
        """Requests the exit, and returns the exit code."""
        self.ask(CLOSE)
        return self.child.wait(self.seconds)


class Result:
    def __init__(self, data):
        kind, self.result, self.native_code, _, self.retry_after, message = struct.unpack_from("=IiiIq496s", data)
        assert kind == RESULT and len(data) == 552, (kind, len(data))
        assert message[495] == 0
        self.message = message.split(b"\0")[0].decode()
        (self.wants_size, self.wants_packets, self.wants_width, self.wants_height, *self.wants_rate,
         self.keeps_rotation, _) = struct.unpack_from("=4I2i2I", data, 520)


class Stream:
    def __init__(self, data):
        values = struct.unpack_from(STREAM_FORMAT, data)
        self.pacing, self.width, self.height = values[1:4]
        self.pixel_format, self.codec = (text.split(b"\0")[0].decode() for text in values[4:6])
        self.time_base, self.frame_rate, self.sample_aspect_ratio = values[6:8], values[8:10], values[10:12]
        self.color, self.rotation = values[12:16], values[16]
        self.parameter_sets, self.can_pause = data[128:], values[21]
        assert len(self.parameter_sets) == values[20]


class Item:
    def __init__(self, host, data):
        values = struct.unpack_from(ITEM_FORMAT, data)
        self.is_packet, self.flags, self.segment, self.slot, self.width, self.height = values[1:7]
        self.rotation, self.sequence, self.pts, self.dts, self.duration = values[7:12]
        self.capture_time, self.wall_clock, self.length = values[12:15]
        self.pixel_format = values[15].split(b"\0")[0].decode()
        self.color, self.plane_count = values[18:22], values[22]
        planes = values[23:31]
        self.planes = list(zip(planes[::2], planes[1::2]))[:self.plane_count]
        self.parameter_sets = data[208:]
        assert len(self.parameter_sets) == values[31]
        assert self.segment == host.segments and host.free >> self.slot & 1, "a slot that was not granted"
        begin = self.slot * host.slot_length
        self.memory = host.memory[begin:begin + host.slot_length]
        self.data = self.memory[:self.length]

    def plane(self, index, rows, row_bytes):
        """The rows of a plane, one after another."""
        offset, stride = self.planes[index]
        assert 0 <= offset and stride >= row_bytes and offset + stride * (rows - 1) + row_bytes <= len(self.memory)
        return b"".join(self.memory[offset + row * stride:offset + row * stride + row_bytes] for row in range(rows))


def plugin(name, **options):
    """Runs one of the plug-ins in plugins.py."""
    return Host([sys.executable, str(Path(__file__).with_name("plugins.py")), name], **options)


def readable(item, seconds):
    return bool(select.select([item], [], [], seconds)[0])
