"""Plug-ins for the tests. The first argument selects one."""

import os
import sys
import threading
import time

if sys.argv[1] == "PlainBytes":
    sys.modules["numpy"] = None

import inlet_plugin as inlet

if sys.argv[1] != "PlainBytes":
    import numpy


class Counting(inlet.Source):
    """Pictures in nv12 whose samples are the picture's number. The size is an option, and doubles after three."""

    def open(self, options):
        self.width, self.height = (int(side) for side in options["size"].split("x"))
        return inlet.Stream(
            "nv12", self.width, self.height, pacing=inlet.Pacing.NONE, time_base=(1, 25), frame_rate=25,
            color=inlet.Color(1, 1, 1, 1), rotation=90)

    def next(self, deadline):
        if self.sequence == 6:
            raise inlet.EndOfStream
        scale = 2 if self.sequence >= 3 else 1
        slot = self.slot("nv12", self.width * scale, self.height * scale)
        luma, chroma = slot.arrays
        luma[:] = self.sequence + 1
        chroma[..., 0], chroma[..., 1] = 100 + self.sequence, 200 + self.sequence
        return inlet.Frame(
            slot, pts=self.sequence, duration=1, capture_time=inlet.now(), flags=inlet.Flag.DISCONTINUITY)

    def close(self):
        print("closed", file=sys.stderr)


class Arrays(inlet.Source):
    """Arrays of each kind, which are copied, then an invalid one."""

    def open(self, options):
        return inlet.Stream("bgra", 6, 4)

    def next(self, deadline):
        ramp = numpy.arange(6 * 4 * 4, dtype=numpy.uint8)
        return [
            lambda: inlet.Frame(ramp.reshape(4, 6, 4), "bgra"),
            lambda: inlet.Frame(ramp[:24].reshape(4, 6), "gray", pts=7),
            lambda: inlet.Frame(ramp[:36].reshape(6, 6), "yuv420p"),
            lambda: inlet.Frame(ramp[:36].reshape(6, 6), "nv12"),
            lambda: inlet.Frame([ramp[:15].reshape(3, 5), *ramp[20:32].reshape(2, 2, 3)], "yuv420p"),
            lambda: inlet.Frame(ramp[:24].astype(numpy.uint16).reshape(4, 6) * 257, "gray16le"),
            lambda: inlet.Frame(ramp.reshape(4, 6, 4)[:, ::-1], "bgra"),
            lambda: inlet.Frame(ramp[:24].reshape(4, 6), "rgb24"),
            lambda: inlet.Frame(ramp[:24].reshape(4, 6), "p016"),
            lambda: self.slot("gray", 0, 5),
            lambda: 5,
        ][int(self.address)]()


class PlainBytes(inlet.Source):
    """Works without numpy."""

    def open(self, options):
        return inlet.Stream("yuv420p", 5, 3)

    def next(self, deadline):
        return inlet.Frame([bytes(range(15)), bytes(range(20, 26)), bytes(range(30, 36))], "yuv420p", 5, 3)


class Waiting(inlet.Source):
    """Waits in a call, with `wait` or by itself, depending on the address. Never gives a picture."""

    def open(self, options):
        if self.address == "open":
            self.wait()
        return inlet.Stream("gray", 16, 16)

    def next(self, deadline):
        if self.address == "hang":
            threading.Event().wait()
        if self.address == "pipe":
            reading, _ = os.pipe()
            assert self.wait(reading) == []
            return None
        self.wait()
        return None

    def pause(self):
        self.log("paused")

    def resume(self):
        self.log("resumed")


class Failing(inlet.Source):
    """Raises the error that the address selects."""

    def open(self, options):
        def missing():
            open("/nonexistent/camera")

        raised = {
            "coded": lambda: inlet.Error(
                inlet.Code.BUSY, "The camera is in use: stop the other program. " + "\u00e9" * 400, 16, 5_000_000_000),
            "mistake": lambda: KeyError("gain"),
            "missing": missing,
            "memory": MemoryError,
            "fraction": lambda: inlet.Stream("gray", 16, 16, time_base=(1, 1 << 40)),
            "exit": lambda: SystemExit(3),
        }[self.address]()
        if isinstance(raised, BaseException):
            raise raised
        return raised


class Talking(inlet.Source):
    """Sends every message that needs no answer."""

    def open(self, options):
        return inlet.Stream("gray", 16, 16, frame_rate=29.97)

    def next(self, deadline):
        self.report_progress()
        self.count_drop("damaged", 3)
        self.begin_interruption("the shutter is shut")
        self.end_interruption()
        self.log("gr\u00fc\u00dfe", inlet.Level.WARNING)
        for number in range(1000):
            self.log(f"line {number}")
        raise inlet.Error(inlet.Code.DISCONNECTED, str(self.demand))


class Packets(inlet.Source):
    """Packets, of which the second is longer than the slots."""

    def open(self, options):
        return inlet.Stream(codec="h264", time_base=(1, 90000), parameter_sets=b"sets")

    def next(self, deadline):
        number = self.sequence
        return inlet.Packet(
            b"\0\0\0\1" + bytes([number]) * (10 + 9000 * number), pts=number * 3000, dts=number * 3000 - 1,
            flags=inlet.Flag.KEY if number == 0 else inlet.Flag(0), parameter_sets=b"new" if number == 1 else b"")


class Recording(inlet.Sink):
    """Logs its items."""

    def wants(self, options):
        self.seen = []
        return inlet.Wants(width=320, height=240, frame_rate=(15, 1), packets=self.address == "packets")

    def start(self, stream):
        self.log(f"start {stream.width}x{stream.height} {stream.time_base} {stream.parameter_sets!r}")

    def consume(self, item):
        if isinstance(item, inlet.Packet):
            self.request_key_frame()
            self.log(f"packet {bytes(item.data)!r} dts {item.dts}")
            return
        luma = item.picture.arrays[0]
        self.log(f"picture {luma.shape} sum {int(luma.sum())} pts {item.pts} {len(item.picture.bytes())}")
        assert not luma.flags.writeable
        if item.pts == 1:
            raise inlet.EndOfStream

    def finish(self):
        self.log("finish")


if __name__ == "__main__":
    inlet.run(globals()[sys.argv[1]])
