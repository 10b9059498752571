#!/usr/bin/env python3
"""Reads frames that `inlet run SOURCE --to shm:NAME` writes to shared memory.

The layout is documented in Docs/reference/shared-memory.md.
"""
import fcntl, mmap, os, struct, sys, time

class Reader:
    def __init__(self, name):
        self.name, self.number, self.torn, self.memory = name, 0, 0, None

    def writer_lives(self):
        """Whether the writer runs. It holds a lock that the system releases however the process ends."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self.file, fcntl.LOCK_UN)
        return False

    def read(self, copied=lambda: None):
        """Returns the newest frame, or None if it was read already. Raises EOFError after the last frame, whether the
        writer has ended or was killed. Tests use `copied`, which is called between the copy and the check."""
        if self.memory is None:  # not opened yet, or replaced by a larger segment
            self.file = open(f"/dev/shm/{self.name}", "rb")
            memory = mmap.mmap(self.file.fileno(), os.fstat(self.file.fileno()).st_size, prot=mmap.PROT_READ)
            if memory[:8] != b"INLETSHM" or struct.unpack_from("=I", memory, 8)[0] != 1:
                raise FileNotFoundError("This is not a shared-memory segment of version 1.")
            self.memory = memory
        lives = self.writer_lives()  # checked before the count, so that a frame written just before the end is read
        _, header, slots, state, slot_bytes, published = struct.unpack_from("=IIIIQQ", self.memory, 8)
        if published <= self.number:
            if state == 3: self.memory = None  # frames continue in a new segment with this name
            elif state == 2: raise EOFError("The writer has ended.")
            elif not lives: raise EOFError("The writer was killed. Open the new writer's segment with a new Reader.")
            return None
        start = header + (published - 1) % slots * slot_bytes
        before, number, sequence, timestamp, wall, pts = struct.unpack_from("=QQQqqq", self.memory, start)
        num, den, width, height, ys, us, vs, rotation, y, u, v, color = struct.unpack_from(
            "=iiIIIIIIQQQI", self.memory, start + 48)
        planes = []
        if before == 2 * published:  # even: complete
            for offset, stride, w, h in (
                (y, ys, width, height), (u, us, (width + 1) // 2, (height + 1) // 2),
                (v, vs, (width + 1) // 2, (height + 1) // 2),
            ):
                rows = (
                    self.memory[start + offset + row * stride:start + offset + row * stride + w] for row in range(h))
                planes.append(b"".join(rows))  # as an array: numpy.frombuffer(plane, numpy.uint8).reshape(h, w)
        copied()
        if before != 2 * published or struct.unpack_from("=Q", self.memory, start)[0] != before:
            self.torn += 1  # overwritten during the copy: the next call finds a newer one
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
