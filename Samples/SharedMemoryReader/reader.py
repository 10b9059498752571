#!/usr/bin/env python3
"""Reads frames that `inlet run SOURCE --to shm:NAME` keeps in shared memory.

Docs/reference/shared-memory.md has the layout.
"""
import fcntl, mmap, os, struct, sys, time

class Reader:
    def __init__(self, name):
        self.name, self.number, self.torn, self.memory = name, 0, 0, None

    def writer_lives(self):
        """The writer holds a lock, which the system takes away however the process ends. Ours is for a moment only."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self.file, fcntl.LOCK_UN)
        return False

    def read(self, copied=lambda: None):
        """The newest frame if it is newer than the last one read, else None; EOFError when no more comes, whether the
        writer has ended or was killed. `copied` is called between copy and check, for tests."""
        if self.memory is None:  # not there yet, or replaced by a larger one
            self.file = open(f"/dev/shm/{self.name}", "rb")
            memory = mmap.mmap(self.file.fileno(), os.fstat(self.file.fileno()).st_size, prot=mmap.PROT_READ)
            if memory[:8] != b"INLETSHM" or struct.unpack_from("=I", memory, 8)[0] != 1:
                raise FileNotFoundError("not a segment of version 1")
            self.memory = memory
        lives = self.writer_lives()  # read before the count: a frame that arrived just before the end is not lost
        _, header, slots, state, slot_bytes, published = struct.unpack_from("=IIIIQQ", self.memory, 8)
        if published <= self.number:
            if state == 3: self.memory = None  # continues in a new segment with this name
            elif state == 2: raise EOFError("the writer has ended")
            elif not lives: raise EOFError("the writer was killed; a new one begins a new segment, for a new reader")
            return None
        start = header + (published - 1) % slots * slot_bytes
        before, number, sequence, timestamp, wall, pts = struct.unpack_from("=QQQqqq", self.memory, start)
        num, den, width, height, ys, us, vs, rotation, y, u, v, color = struct.unpack_from(
            "=iiIIIIIIQQQI", self.memory, start + 48)
        planes = []
        if before == 2 * published:  # even: whole
            for offset, stride, w, h in (
                (y, ys, width, height), (u, us, (width + 1) // 2, (height + 1) // 2),
                (v, vs, (width + 1) // 2, (height + 1) // 2),
            ):
                rows = (
                    self.memory[start + offset + row * stride:start + offset + row * stride + w] for row in range(h))
                planes.append(b"".join(rows))  # numpy.frombuffer(plane, numpy.uint8).reshape(h, w) makes an array of it
        copied()
        if before != 2 * published or struct.unpack_from("=Q", self.memory, start)[0] != before:
            self.torn += 1  # overwritten meanwhile: the next call finds a newer one
            return None
        self.number = number
        return dict(
            number=number, sequence=sequence, timestamp=timestamp, pts=pts, time_base=(num, den), width=width,
            height=height, rotation=rotation, planes=planes, range=color >> 24)

if __name__ == "__main__":
    reader = Reader(sys.argv[1])
    while True:
        try: frame = reader.read()
        except EOFError: break
        except FileNotFoundError: frame = None
        if frame:
            print(frame["number"], frame["sequence"], f"{frame['width']}x{frame['height']}",
                  f"{(time.monotonic_ns() - frame['timestamp']) / 1e6:.1f} ms old", flush=True)
        else: time.sleep(0.001)
