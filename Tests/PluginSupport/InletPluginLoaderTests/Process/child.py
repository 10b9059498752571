"""A child process of a plug-in that speaks inlet_plugin_protocol.h itself, and breaks it if a test requires that.

usage: child.py SCENARIO [the arguments of inlet-plugin-host]

A scenario is a list of words, separated by commas:
  packets               yields packets instead of pictures
  FIELD=VALUE           sets a field of the description of the stream (stream.width) or of each item (item.stride)
  at=N                  the item from which fields of items are set, and words below take effect in `next`
  hang@STEP, exit@STEP, signal@STEP, close@STEP, error@STEP, silent@STEP
                        what happens in create, open, next, pause, resume or close
  code=N, result=N      the exit code, the number of the signal, or the result
  ...                   and some more, see below
"""

import array
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time

MESSAGE = struct.Struct("=IIq")
CREATE = struct.Struct("=IIHHI")
NEXT = struct.Struct("=IIqQIIIIiiII")
SEGMENT = struct.Struct("=IIQII")
ITEM = struct.Struct("=8IQ5qQ24sii4BI" + "Qq" * 4 + "IIq")
STREAM = struct.Struct("=4I24s24s6i4B3IqIIq")
RESULT = struct.Struct("=IiiIq496s4Iii2I")
NEED = struct.Struct("=IIQ")
NOTE = struct.Struct("=IiQ496s")

NO_TIME = -(1 << 63)
STEPS = {1: "create", 2: "open", 3: "next", 4: "pause", 5: "resume", 6: "close", 8: "start", 9: "consume"}


class Child:
    def __init__(self, words):
        self.words = {}
        for word in words.split(","):
            name, separator, value = word.partition("=")
            self.words[name] = value if separator else "1"
        self.socket = socket.socket(fileno=3)
        self.wake = -1
        self.memory = None
        self.segment = (0, 0, 0)
        self.free = 0
        self.count = 0
        self.size = (64, 48)

    def has(self, word):
        return word in self.words

    def number(self, word, default):
        return int(str(self.words.get(word, default)), 0)

    def receive(self):
        data, control, _, _ = self.socket.recvmsg(131072, socket.CMSG_SPACE(4))
        passed = array.array("i")
        for level, kind, content in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                passed.frombytes(content[:4])
        if not data:
            sys.exit(0)
        return data, passed[0] if passed else -1

    def result(self, result=0, message=b"", wants=(0,) * 7):
        self.socket.send(RESULT.pack(101, result, self.number("native", 0), 0, self.number("retry", 0), message, 32,
                                     *wants))

    def misbehave(self, step):
        """Returns whether the step was dealt with."""
        if step == "next" and self.count < self.number("at", 0):
            return False
        if self.has("write@" + step):
            os.write(2, b"the first line\nthe sensor says \x1b[31mno\n")
        if self.has("hang@" + step):
            while True:
                time.sleep(1000)
        if self.has("exit@" + step):
            os._exit(self.number("code", 0))
        if self.has("signal@" + step):
            os.kill(os.getpid(), self.number("code", 9))
            time.sleep(10)
        if self.has("close@" + step):
            self.socket.close()
            time.sleep(1000)
        if self.has("error@" + step):
            self.result(self.number("result", -1), self.words.get("message", "it failed").encode("latin-1"))
            return True
        if self.has("silent@" + step):
            return True
        if self.has("garbage@" + step):
            self.socket.send(os.urandom(self.number("length", 100)))
            return True
        if self.has("short@" + step):
            kind = {"create": 101, "open": 102, "next": 103}.get(step, 101)
            self.socket.send(struct.pack("=I", kind) + b"\0" * 4)
            return True
        if self.has("type@" + step):
            self.socket.send(MESSAGE.pack(self.number("type", 999), 0, 0))
            return True
        if self.has("long@" + step):
            self.socket.send(b"\1" * 150000)
            return True
        if self.has("flood@" + step):
            self.flood()
        if self.has("descriptors@" + step):
            with open("/dev/full", "wb", buffering=0) as file:
                passed = array.array("i", [file.fileno()] * self.number("passed", 1))
                self.socket.sendmsg([MESSAGE.pack(105, 0, 0)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)])
        if self.has("fill-wake@" + step):
            os.set_blocking(self.wake, True)
            try:
                os.write(self.wake, b"\xfe" + b"\xff" * 7)
            except OSError:
                pass
            time.sleep(1000)
        self.notes(step)
        return False

    def flood(self):
        kind = self.number("flood", 105)
        packed = MESSAGE.pack(kind, 0, 0) if kind in (105, 109) else NOTE.pack(kind, 1, 1, b"again")
        for _ in range(self.number("times", 1 << 40)):
            self.socket.send(packed)

    def notes(self, step):
        if not self.has("note@" + step):
            return
        kind = self.number("note", 105)
        text = self.words.get("text", "").encode("latin-1")
        if kind in (105, 109):
            self.socket.send(MESSAGE.pack(kind, 0, 0))
        else:
            self.socket.send(NOTE.pack(kind, self.number("level", 1), self.number("number", 1), text))

    def run(self):
        while True:
            data, passed = self.receive()
            kind = struct.unpack_from("=I", data)[0]
            if kind == 7:
                self.take_segment(data, passed)
                continue
            step = STEPS[kind]
            if self.misbehave(step):
                continue
            getattr(self, step)(data, passed)

    def create(self, data, passed):
        self.wake = passed
        fields = data[CREATE.size:].split(b"\0")
        self.options = {fields[i].decode(): fields[i + 1].decode() for i in range(2, len(fields) - 2, 2)}
        if "size" in self.options:
            self.size = tuple(int(part) for part in self.options["size"].split("x"))
        if "say" in self.options:
            self.result(-1, (fields[0] + b"|" + fields[1] + b"|" + self.options["say"].encode()))
            return
        wants = (self.number("wants.packets", 0), self.number("wants.width", 0), self.number("wants.height", 0),
                 self.number("wants.rate", 0), 1 if self.has("wants.rate") else 0, 0, 0)
        self.result(wants=wants)

    def open(self, data, passed):
        packets = self.has("packets")
        stream = {"pacing": 0, "width": self.size[0], "height": self.size[1],
                  "format": "" if packets else "yuv420p", "codec": "h264" if packets else "",
                  "base.n": 1, "base.d": 90000, "rate.n": 30, "rate.d": 1, "aspect.n": 1, "aspect.d": 1,
                  "primaries": 1, "transfer": 1, "matrix": 1, "range": 1, "rotation": 0, "bits": 32, "reorder": 0,
                  "duration": 0, "sets": 4 if packets else 0, "pause": 1}
        self.change(stream, "stream.")
        sets = b"sets" if packets else b""
        self.socket.send(STREAM.pack(
            102, stream["pacing"], stream["width"], stream["height"], stream["format"].encode("latin-1"),
            stream["codec"].encode("latin-1"), stream["base.n"], stream["base.d"], stream["rate.n"],
            stream["rate.d"], stream["aspect.n"], stream["aspect.d"], stream["primaries"], stream["transfer"],
            stream["matrix"], stream["range"], stream["rotation"], stream["bits"], stream["reorder"],
            stream["duration"], stream["sets"], stream["pause"], 0) + sets)

    def change(self, fields, prefix):
        for name, value in self.words.items():
            if name.startswith(prefix):
                name = name[len(prefix):]
                fields[name] = value if isinstance(fields[name], str) else int(value, 0)

    def pause(self, data, passed):
        self.result()

    resume = pause

    def close(self, data, passed):
        os._exit(0)

    def take_segment(self, data, passed):
        _, number, length, count, _ = SEGMENT.unpack_from(data)
        if self.memory:
            self.memory.close()
        self.memory = mmap.mmap(passed, length * count)
        if self.has("shrink"):
            try:
                os.ftruncate(passed, 0)
            except OSError:
                pass
        os.close(passed)
        self.segment = (number, length, count)
        self.free = (1 << count) - 1

    def slot(self, length):
        """Returns a free slot of a length. If necessary, first makes Inlet send a segment."""
        while self.segment[1] < length:
            self.socket.send(NEED.pack(104, 0, self.number("need", length)))
            data, passed = self.receive()
            if struct.unpack_from("=I", data)[0] == 7:
                self.take_segment(data, passed)
        for slot in range(self.segment[2]):
            if self.free & 1 << slot:
                return slot
        self.result(-16, b"no slot is free")
        return None

    def next(self, data, passed):
        fields = NEXT.unpack_from(data)
        self.free = fields[3]
        if self.has("end") and self.count >= self.number("end", 1):
            self.result(1)
            return
        pace = self.number("pace", 0)
        if pace:
            left = max(0, min(pace, (fields[2] - time.monotonic_ns()) // 1_000_000))
            if select.select([self.wake], [], [], left / 1000)[0]:
                self.result(-17, b"cancelled")
                return
            if left < pace:
                self.result(2)
                return
        if self.has("sizes"):
            self.size = [(64, 48), (1280, 720), (2, 2), (333, 77), (640, 480)][self.count % 5]
        width, height = self.size
        stride = (width + 63) // 64 * 64
        half = ((width + 1) // 2 + 63) // 64 * 64
        rows = (height + 1) // 2
        places = [(0, stride), (stride * height, half), (stride * height + half * rows, half)]
        packet = b"packet %d" % self.count
        total = len(packet) if self.has("packets") else places[2][0] + half * rows
        slot = self.slot(total)
        if slot is None:
            return
        start = slot * self.segment[1]
        if self.has("packets"):
            self.memory[start:start + len(packet)] = packet
        else:
            for plane, (offset, line) in enumerate(places):
                count = (height if plane == 0 else rows) * line
                value = (self.count + 50 * plane) % 256
                self.memory[start + offset:start + offset + count] = bytes([value]) * count
        item = {"packet": 1 if self.has("packets") else 0, "flags": 1, "segment": self.segment[0], "slot": slot,
                "width": width, "height": height, "rotation": 0, "sequence": self.count, "pts": self.count * 3000,
                "dts": NO_TIME, "duration": 3000, "capture": time.monotonic_ns(), "wall": NO_TIME,
                "length": len(packet), "format": "" if self.has("packets") else "yuv420p", "aspect.n": 1,
                "aspect.d": 1, "primaries": 1, "transfer": 1, "matrix": 1, "range": 1,
                "planes": 0 if self.has("packets") else 3, "sets": 0}
        for plane, (offset, line) in enumerate(places):
            item["offset%d" % plane] = offset
            item["stride%d" % plane] = line
        if self.count >= self.number("at", 0):
            self.change(item, "item.")
        self.socket.send(ITEM.pack(
            103, item["packet"], item["flags"], item["segment"], item["slot"], item["width"], item["height"],
            item["rotation"], item["sequence"], item["pts"], item["dts"], item["duration"], item["capture"],
            item["wall"], item["length"], item["format"].encode("latin-1"), item["aspect.n"], item["aspect.d"],
            item["primaries"], item["transfer"], item["matrix"], item["range"], item["planes"], item["offset0"],
            item["stride0"], item["offset1"], item["stride1"], item["offset2"], item["stride2"], 0, 0, item["sets"],
            0, 0))
        self.count += 1

    def start(self, data, passed):
        self.stream = STREAM.unpack_from(data)
        self.result()

    def consume(self, data, passed):
        if self.has("end") and self.count >= self.number("end", 1):
            self.result(1)
            return
        fields = ITEM.unpack_from(data)
        width, height, slot = fields[5], fields[6], fields[4]
        start = slot * self.segment[1]
        if fields[1]:
            content = self.memory[start:start + fields[14]]
        else:
            planes = fields[23:31]
            content = b""
            for plane in range(3):
                columns, rows = (width, height) if plane == 0 else ((width + 1) // 2, (height + 1) // 2)
                for row in range(rows):
                    at = start + planes[2 * plane] + row * planes[2 * plane + 1]
                    content += self.memory[at:at + columns]
        if "to" in self.options:
            with open(self.options["to"], "ab") as file:
                file.write(content)
        self.count += 1
        if self.has("wants.key"):
            self.socket.send(MESSAGE.pack(109, 0, 0))
        self.result()


if __name__ == "__main__":
    child = Child(sys.argv[1])
    if "--probe" in sys.argv:
        if child.misbehave("probe"):
            time.sleep(0.5)
        else:
            child.result(0, child.words.get("ids", "inlet.source/1").encode())
        os._exit(0)
    if child.has("arguments"):
        child.socket.recv(131072)
        child.result(-1, " ".join(sys.argv[2:]).encode() + b"|" + repr(dict(os.environ)).encode()
                     + b"|" + ",".join(sorted(os.listdir("/proc/self/fd"))).encode())
        os._exit(0)
    child.run()
