"""Tests of Python/inlet_plugin against a scripted host. Run by: python3 -m unittest discover Tests/PythonPlugin"""

import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2] / "Python/inlet_plugin")]
import inlet_plugin
import scripted_host as wire
from scripted_host import ROOT, plugin

HEADERS = ROOT / "Sources/C/CInletPlugin/include"


class LayoutTests(unittest.TestCase):
    """The formats of the module are those that a C compiler sees in the header."""

    def test_sizes_and_offsets(self):
        lines = []
        for layout in inlet_plugin.LAYOUTS:
            lines.append(f'printf("{layout.name} %zu\\n", sizeof({layout.name}));')
            lines += [
                f'printf("{layout.name}.{field} %zu %zu\\n", offsetof({layout.name}, {field}), '
                f"sizeof((({layout.name} *)0)->{field}));" for field in layout.offsets]
        program = "#include <stddef.h>\n#include <stdio.h>\n#include <inlet_plugin_protocol.h>\nint main(void) {\n"
        with tempfile.TemporaryDirectory() as folder:
            source, binary = Path(folder, "sizes.c"), Path(folder, "sizes")
            source.write_text(program + "\n".join(lines) + "\nreturn 0; }\n")
            subprocess.run(["cc", "-std=c11", "-I", HEADERS, source, "-o", binary], check=True)
            output = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
        expected = dict((name, tuple(map(int, numbers))) for name, *numbers in map(str.split, output.splitlines()))
        for layout in inlet_plugin.LAYOUTS:
            self.assertEqual((layout.size,), expected[layout.name], layout.name)
            ends = list(layout.offsets.values())[1:] + [layout.size]
            for (field, offset), end in zip(layout.offsets.items(), ends):
                self.assertEqual((offset, end - offset), expected[f"{layout.name}.{field}"], f"{layout.name}.{field}")

    def test_every_field_of_the_header(self):
        text = (ROOT / "Sources/C/CInletPlugin/layout.c").read_text()
        for layout in inlet_plugin.LAYOUTS:
            fields = re.findall(rf"AT\({layout.name}, (\w+), (\d+)\)", text)
            self.assertEqual(layout.offsets, {name: int(offset) for name, offset in fields}, layout.name)

    def test_numbers(self):
        headers = "".join((HEADERS / name).read_text() for name in ("inlet_plugin.h", "inlet_plugin_protocol.h"))
        for prefix, values in (
            ("INLET_ERROR_", inlet_plugin.Code), ("INLET_LOG_", inlet_plugin.Level),
            ("INLET_PACING_", inlet_plugin.Pacing), ("INLET_MESSAGE_", inlet_plugin._Type),
        ):
            found = dict(re.findall(rf"{prefix}(\w+) = (-?\d+)", headers))
            self.assertEqual({item.name: item.value for item in values}, {k: int(v) for k, v in found.items()})
        flags = dict(re.findall(r"INLET_FLAG_(\w+) = 1 << (\d+)", headers))
        self.assertEqual({f.name: f.value for f in inlet_plugin.Flag}, {k: 1 << int(v) for k, v in flags.items()})
        defines = dict(re.findall(r"#define INLET_(\w+) (\d+)", headers))
        self.assertEqual(int(defines["CHILD_SOCKET"]), inlet_plugin.CHILD_SOCKET)
        self.assertEqual(int(defines["LONGEST_MESSAGE"]), inlet_plugin.LONGEST_MESSAGE)
        self.assertEqual(int(defines["SLOT_ALIGNMENT"]), inlet_plugin.SLOT_ALIGNMENT)
        self.assertEqual(int(defines["PLUGIN_MAJOR"]), inlet_plugin.MAJOR)


class SourceTests(unittest.TestCase):
    def test_pictures_in_slots_of_sizes_that_change(self):
        with plugin("Counting") as host:
            self.assertEqual(host.create(options=[("size", "33x17"), ("name", "")]).result, 0)
            stream = host.open()
            self.assertEqual(
                (stream.pacing, stream.width, stream.height, stream.pixel_format, stream.codec, stream.time_base,
                 stream.frame_rate, stream.color, stream.rotation, stream.can_pause),
                (2, 33, 17, "nv12", "", (1, 25), (25, 1), (1, 1, 1, 1), 90, 0))
            for number in range(6):
                before = time.monotonic_ns()
                item = host.next()
                width, height = (33, 17) if number < 3 else (66, 34)
                self.assertEqual((item.width, item.height, item.sequence, item.pts), (width, height, number, number))
                self.assertEqual((item.flags, item.dts, item.wall_clock), (4, wire.NO_TIME, wire.NO_TIME))
                self.assertTrue(before <= item.capture_time <= time.monotonic_ns())
                self.assertTrue(all(offset % 64 == 0 and stride % 64 == 0 for offset, stride in item.planes))
                self.assertEqual(item.plane(0, height, width), bytes([number + 1]) * (width * height))
                columns, rows = -(-width // 2), -(-height // 2)
                pair = bytes([100 + number, 200 + number])
                self.assertEqual(item.plane(1, rows, 2 * columns), pair * (columns * rows))
            # 33x17 takes one page, 66x34 two.
            self.assertEqual(host.segments, 2)
            self.assertEqual(host.next().result, 1)
            self.assertEqual(host.close(), 0)
            self.assertEqual(host.child.stderr.read(), b"closed\n")

    def test_only_slots_that_were_granted(self):
        with plugin("Counting") as host:
            host.create(options=[("size", "16x16")])
            host.open()
            host.next()
            for slot in (2, 3):
                host.free = 1 << slot
                self.assertEqual(host.next().slot, slot)
            host.give_segment(8192)
            host.free = 0
            self.assertEqual((host.next().result, host.segments), (-14, 2))

    def test_arrays_of_each_kind(self):
        ramp = bytes(range(96))
        wide = b"".join(bytes([byte, byte]) for byte in range(24))
        turned = numpy.frombuffer(ramp, numpy.uint8).reshape(4, 6, 4)[:, ::-1].tobytes()
        expected = [
            ("bgra", 6, 4, [(4, 24, ramp)]), ("gray", 6, 4, [(4, 6, ramp[:24])]),
            ("yuv420p", 6, 4, [(4, 6, ramp[:24]), (2, 3, ramp[24:30]), (2, 3, ramp[30:36])]),
            ("nv12", 6, 4, [(4, 6, ramp[:24]), (2, 6, ramp[24:36])]),
            ("yuv420p", 5, 3, [(3, 5, ramp[:15]), (2, 3, ramp[20:26]), (2, 3, ramp[26:32])]),
            ("gray16le", 6, 4, [(4, 12, wide)]), ("bgra", 6, 4, [(4, 24, turned)]),
        ]
        for address, (pixel_format, width, height, planes) in enumerate(expected):
            with self.subTest(address), plugin("Arrays") as host:
                host.create(address=str(address))
                host.open()
                item = host.next()
                self.assertEqual((item.pixel_format, item.width, item.height), (pixel_format, width, height))
                self.assertEqual(item.plane_count, len(planes))
                for index, (rows, row_bytes, data) in enumerate(planes):
                    self.assertEqual(item.plane(index, rows, row_bytes), data)
        for address, result, words in (
            (7, -15, "(4, 6, 3)"), (8, -6, "p016"), (9, -1, "0x5"), (10, -15, "returned a int"),
        ):
            with self.subTest(address), plugin("Arrays") as host:
                host.create(address=str(address))
                host.open()
                failure = host.next()
                self.assertEqual(failure.result, result)
                self.assertIn(words, failure.message)

    def test_numpy_is_not_needed(self):
        with plugin("PlainBytes") as host:
            host.create()
            host.open()
            item = host.next()
            planes = [item.plane(0, 3, 5), item.plane(1, 2, 3), item.plane(2, 2, 3)]
            self.assertEqual(planes, [bytes(range(15)), bytes(range(20, 26)), bytes(range(30, 36))])
            self.assertEqual(host.close(), 0)

    def test_packets(self):
        with plugin("Packets") as host:
            host.create()
            stream = host.open()
            self.assertEqual((stream.codec, stream.pixel_format, stream.parameter_sets), ("h264", "", b"sets"))
            first, second = host.next(), host.next()
            self.assertEqual((first.is_packet, first.flags, first.parameter_sets), (1, 1, b""))
            self.assertEqual(first.data, b"\0\0\0\1" + bytes(10))
            self.assertEqual((second.flags, second.parameter_sets, second.pts, second.dts), (0, b"new", 3000, 2999))
            self.assertEqual((second.segment, second.data), (2, b"\0\0\0\1" + b"\1" * 9010))

    def test_a_cancellation_ends_every_wait(self):
        for address in ("open", "next", "pipe"):
            with self.subTest(address), plugin("Waiting") as host:
                host.create(address=address)
                if address == "open":
                    host.ask(wire.OPEN)
                else:
                    host.open()
                    host.ask_next()
                self.assertFalse(wire.readable(host.socket, 0.2))
                before = time.monotonic()
                host.cancel()
                answer = wire.Result(host.receive())
                took = time.monotonic() - before
                self.assertEqual(answer.result, -17)
                # It takes well below a millisecond; the limit is for a busy machine.
                self.assertLess(took, 2)
                self.assertEqual(host.close(), 0)

    def test_a_deadline_ends_a_wait(self):
        with plugin("Waiting") as host:
            host.create()
            host.open()
            host.ask_next(seconds=0.1)
            deadline = time.monotonic_ns()
            self.assertEqual(wire.Result(host.receive()).result, 2)
            self.assertGreater(time.monotonic_ns(), deadline)

    def test_pause_and_resume(self):
        with plugin("Waiting") as host:
            host.create()
            self.assertEqual(host.open().can_pause, 1)
            for kind, word in ((wire.PAUSE, b"paused"), (wire.RESUME, b"resumed")):
                host.ask(kind)
                self.assertEqual(wire.Result(host.receive()).result, 0)
                self.assertIn(word, host.notes[-1])
        with plugin("Counting") as host:
            host.create(options=[("size", "16x16")])
            host.open()
            host.ask(wire.PAUSE)
            self.assertEqual(wire.Result(host.receive()).result, -6)

    def test_the_process_ends_with_the_host(self):
        for address in ("next", "hang"):
            with self.subTest(address), plugin("Waiting") as host:
                host.create(address=address)
                host.open()
                host.ask_next()
                host.socket.close()
                self.assertIn(host.child.wait(20), (0, 1))
        with plugin("Waiting") as host:
            host.create()
            host.socket.close()
            self.assertEqual(host.child.wait(20), 0)

    def test_errors(self):
        for address, result, native_code, words in (
            ("coded", -5, 16, "The camera is in use: stop the other program."),
            ("mistake", -16, 0, "KeyError: 'gain'"), ("missing", -2, 2, "No such file or directory: /nonexistent"),
            ("memory", -14, 0, "memory"), ("fraction", -15, 0, "1/1099511627776"),
        ):
            with self.subTest(address), plugin("Failing") as host:
                host.create(address=address)
                failure = host.open()
                self.assertEqual((failure.result, failure.native_code), (result, native_code))
                self.assertIn(words, failure.message)
                if address == "coded":
                    self.assertEqual(failure.retry_after, 5_000_000_000)
                    self.assertGreater(len(failure.message.encode()), 490)
                self.assertEqual(host.close(), 0)
        with plugin("Failing") as host:
            host.create(address="exit")
            host.ask(wire.OPEN)
            with self.assertRaises(EOFError):
                host.receive()
            self.assertEqual(host.child.wait(20), 3)

    def test_notes(self):
        with plugin("Talking") as host:
            host.create()
            self.assertEqual(host.open().frame_rate, (2997, 100))
            host.ask_next(demand=(1, 1, 3, 30000, 1001, 320, 240))
            # Nothing is read for a moment: messages that do not fit are dropped, and the answer still arrives.
            time.sleep(0.3)
            message = wire.Result(host.receive()).message
            self.assertIn("key_frame_requests=3, frame_rate=Fraction(30000, 1001), width=320, height=240", message)
            notes = [struct.unpack("=IiQ496s", note) for note in host.notes if len(note) == 512]
            said = [(kind, level, count, text.rstrip(b"\0")) for kind, level, count, text in notes]
            self.assertEqual(host.notes[0], struct.pack("=IIq", wire.PROGRESS, 0, 0))
            self.assertEqual(said[:4], [
                (wire.DROP, 0, 3, b"damaged"), (wire.INTERRUPTION, 0, 0, b"the shutter is shut"),
                (wire.INTERRUPTION, 0, 0, b""), (wire.LOG, 2, 0, "gr\u00fc\u00dfe".encode())])
            # A thousand lines may span two seconds, each of which admits a hundred.
            self.assertLessEqual(len([note for note in said if b"line " in note[3]]), 200)

    def test_what_the_protocol_does_not_allow(self):
        with plugin("Counting") as host:
            answer = host.create(major=2)
            self.assertEqual(answer.result, -15)
            self.assertIn("version 2", answer.message)
        with plugin("Counting") as host:
            self.assertEqual(host.create(kind=wire.SINK).result, -6)
        with plugin("Counting") as host:
            host.send(struct.pack("=IIq", wire.NEXT, 0, 0))
            self.assertEqual(wire.Result(host.receive()).result, -15)
        with plugin("Counting") as host:
            host.send(b"\1")
            self.assertEqual(wire.Result(host.receive()).result, -15)

    def test_started_by_a_person(self):
        run = subprocess.run(
            [sys.executable, Path(__file__).with_name("plugins.py"), "Counting"], capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "Python/inlet_plugin")}, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 64)
        self.assertIn("INLET_PLUGIN_PATH", run.stderr)


class SinkTests(unittest.TestCase):
    def test_pictures(self):
        with plugin("Recording") as host:
            wants = host.create(kind=wire.SINK)
            self.assertEqual(
                (wants.result, wants.wants_size, wants.wants_packets, wants.wants_width, wants.wants_height,
                 wants.wants_rate, wants.keeps_rotation), (0, 32, 0, 320, 240, [15, 1], 0))
            self.start(host, b"yuv420p", b"", b"")
            host.give_segment(12288)
            for number, result in ((0, 0), (1, 1)):
                host.memory[4096 * 3 * number:4096 * 3 * number + 4096] = bytes([number + 2]) * 4096
                self.assertEqual(self.consume(host, number, pts=number).result, result)
            # A picture of 5x3 has 15 samples of luma, and 6 of each chroma.
            self.assertEqual(self.lines(host), [
                "start 5x3 1/25 b''", "picture (3, 5) sum 30 pts 0 27", "picture (3, 5) sum 45 pts 1 27"])
            self.assertEqual(host.close(), 0)
            self.assertEqual(host.socket.recv(4096)[16:22], b"finish")

    def test_packets(self):
        with plugin("Recording") as host:
            self.assertEqual(host.create(kind=wire.SINK, address="packets").wants_packets, 1)
            self.start(host, b"", b"h264", b"sets")
            host.give_segment(4096)
            host.memory[:6] = b"packet"
            self.assertEqual(self.consume(host, 0, pts=5, length=6).result, 0)
            self.assertEqual(self.lines(host), ["start 5x3 1/25 b'sets'", "packet b'packet' dts 5"])
            self.assertIn(struct.pack("=IIq", wire.KEY_FRAME, 0, 0), host.notes)

    def test_a_slot_that_does_not_exist(self):
        with plugin("Recording") as host:
            host.create(kind=wire.SINK)
            self.start(host, b"yuv420p", b"", b"")
            self.assertEqual(self.consume(host, 0, pts=0).result, -15)
            host.give_segment(4096)
            self.assertEqual(self.consume(host, 4, pts=0).result, -15)

    def start(self, host, pixel_format, codec, sets):
        host.send(struct.pack(
            wire.STREAM_FORMAT, wire.START, 0, 5, 3, pixel_format, codec, 1, 25, 25, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0,
            len(sets), 0, host.deadline()) + sets)
        self.assertEqual(wire.Result(host.receive()).result, 0)

    def consume(self, host, slot, pts, length=0):
        planes = (0, 64, 4096, 64, 8192, 64, 0, 0)
        host.send(struct.pack(
            wire.ITEM_FORMAT, wire.CONSUME, int(length > 0), 0, host.segments, slot, 5, 3, 0, 0, pts, pts, 1,
            wire.NO_TIME, wire.NO_TIME, length, b"" if length else b"yuv420p", 1, 1, 1, 1, 1, 1, 0 if length else 3,
            *planes, 0, 0, host.deadline()))
        return wire.Result(host.receive())

    def lines(self, host):
        return [note[16:].split(b"\0")[0].decode() for note in host.notes if note[0] == wire.LOG]


if __name__ == "__main__":
    unittest.main()
