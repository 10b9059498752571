"""Tests of the samples of plug-ins in C++ and of packets, called in the order in which Inlet calls them, by driver.c.

Run by: python3 -m unittest discover Tests/TestPlugins. Needs ffmpeg, a C and a C++ compiler, libaravis-dev, and nobody
else at port 3956 of 127.0.0.1, at which a GigE Vision camera listens.
"""

import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "Sources/C/CInletPlugin/include"


def run(*command, **options):
    return subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, text=True, timeout=300, **options).stdout


def hashed(data):
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return f"{value:016x}"


class SampleTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        cls.addClassCleanup(cls.folder.cleanup)
        here = Path(__file__).parent
        run("cc", "-std=gnu11", "-O1", "-pthread", f"-I{INCLUDE}", here / "driver.c", "-o", cls.path / "driver")
        cls.prepare(here)

    def drive(self, library, address, count, **options):
        words = [f"{name}={value}" for name, value in options.items()]
        return run(self.path / "driver", self.path / library, address, count, *words).splitlines()

    def exported(self, library):
        return [line.split()[-1] for line in run("nm", "-D", "--defined-only", self.path / library).splitlines()]


class PacketSourceTests(SampleTests):
    @classmethod
    def prepare(cls, here):
        flags = f"-O1 -Wall -Wextra -Werror -fsanitize=undefined -fno-sanitize-recover -I{INCLUDE}"
        source = ROOT / "Samples/PacketSource/annexb.c"
        run("cc", "-std=c11", *flags.split(), "-fPIC", "-fvisibility=hidden", "-shared", source, "-o",
            cls.path / "annexb.so")
        for frames in (0, 2):
            run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", 20,
                "-c:v", "libx264", "-threads", 1, "-bf", frames, "-g", 8, "-x264-params", "slices=3:aud=1", "-f",
                "h264", cls.path / f"clip{frames}.h264")

    def test_packets_are_those_that_ffmpeg_reads(self):
        clip = self.path / "clip0.h264"
        lines = self.drive("annexb.so", "", 100, file=clip, rate=240, hold=3)
        probed = run("ffprobe", "-v", "error", "-show_packets", "-show_entries", "packet=size,flags", "-of", "csv=p=0",
                     clip).split()
        data, expected = clip.read_bytes(), []
        for number, row in enumerate(probed):
            size, flags = row.split(",")[:2]
            expected.append(
                f"packet {size} sequence {number} pts {number} flags {int('K' in flags)} age-ms -1 "
                f"hash {hashed(data[:int(size)])}")
            data = data[int(size):]
        self.assertEqual(len(expected), 20)
        self.assertEqual(lines[2:22], expected)
        self.assertEqual(lines[22], "next 1 ")
        # Three held items are unchanged after the instance is gone.
        self.assertEqual(sorted(lines[24:28]), sorted(expected[-4:]))

    def test_the_file_repeats(self):
        lines = self.drive("annexb.so", self.path / "clip0.h264", 45, rate=240, repeat="true")
        self.assertEqual(lines[2].split("hash")[1], lines[22].split("hash")[1])
        self.assertIn("sequence 44 pts 44", lines[46])

    def test_a_requested_key_frame_is_the_next_packet(self):
        def keys(**options):
            lines = self.drive("annexb.so", self.path / "clip0.h264", 20, rate=240, **options)
            return [index for index in range(20) if " flags 1 " in lines[2 + index]]

        # The encoder makes a key frame every 8 of the 20 pictures.
        self.assertEqual(keys(), [0, 8, 16])
        self.assertEqual(keys(repeat="true", key=3), [0, 3, 11, 15])
        self.assertEqual(keys(repeat="true", key=18), [0, 8, 16, 18])
        # A file that is not repeated is played completely.
        self.assertEqual(keys(key=3), [0, 8, 16])

    def test_pacing_and_cancellation(self):
        lines = self.drive("annexb.so", self.path / "clip0.h264", 10, rate="1/10", cancel=1, seconds=100)
        self.assertIn("next -17 annexb: The source was cancelled.", lines)
        took = next(int(line.split()[1]) for line in lines if line.startswith("cancelled-ms"))
        self.assertLess(took, 2000)

    def test_errors(self):
        (self.path / "empty").touch()
        for path, words in (
            ("/nonexistent", "open -2 "), ("/etc/passwd", "open -13 "), ("/etc", "open -13 "),
            (self.path / "empty", "open -13 "), ("/dev/zero", "open -13 "),
        ):
            with self.subTest(path):
                self.assertTrue(self.drive("annexb.so", path, 1)[1].startswith(words))
        lines = self.drive("annexb.so", self.path / "clip2.h264", 100)
        self.assertTrue(any(line.startswith("next -6 ") and "B-frames" in line for line in lines))

    def test_every_end_of_a_file(self):
        data = (self.path / "clip0.h264").read_bytes()
        for length in [*range(1, 60), *range(700, 780, 7), len(data) - 1]:
            (self.path / "cut").write_bytes(data[:length])
            self.assertTrue(self.drive("annexb.so", self.path / "cut", 30, rate=240)[-1].startswith("done"))

    def test_symbols(self):
        self.assertEqual(self.exported("annexb.so"), ["inlet_plugin_entry"])


class CppSourceTests(SampleTests):
    @classmethod
    def prepare(cls, here):
        aravis = run("pkg-config", "--cflags", "--libs", "aravis-0.8").split()
        folder = ROOT / "Samples/CppSource"
        run("c++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", "-fPIC", "-fvisibility=hidden",
            "-shared", f"-Wl,--version-script={folder / 'exports.map'}", folder / "aravis.cpp", "-o",
            cls.path / "aravis.so", *aravis)
        run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", here / "fake-camera.c", "-o",
            cls.path / "fake-camera", *aravis)

    def camera(self):
        camera = subprocess.Popen(
            [self.path / "fake-camera", "127.0.0.1", "TEST01"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.addCleanup(self.end, camera)
        self.assertEqual(camera.stdout.readline(), "ready\n")
        return camera

    def end(self, camera):
        camera.kill()
        camera.wait()
        camera.stdin.close()
        camera.stdout.close()

    def pictures(self, lines):
        found = [re.match(r"picture (\S+) (\S+) sequence (\d+) pts (\d+) .* age-ms (-?\d+) hash (\w+)", line)
                 for line in lines]
        return [match.groups() for match in found if match]

    def test_pictures(self):
        self.camera()
        lines = self.drive("aravis.so", "127.0.0.1", 20, size="322x242", rate=20, hold=5)
        self.assertEqual(lines[1], "open 0 gray 322x242 rate 20000/1000 sets 0 ")
        pictures = self.pictures(lines)
        self.assertEqual(len(pictures), 26)
        self.assertEqual({picture[:2] for picture in pictures}, {("322x242", "gray")})
        numbers, ticks = ([int(picture[column]) for picture in pictures[:20]] for column in (2, 3))
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(ticks, sorted(set(ticks)))
        # A picture was taken before it arrived, and not long ago.
        self.assertTrue(all(0 <= int(picture[4]) < 5000 for picture in pictures[:20]))
        self.assertGreater(len({picture[5] for picture in pictures}), 10)
        # Six lent pictures are unchanged, though the camera is closed.
        before = {picture[2]: picture[5] for picture in pictures[:20]}
        self.assertEqual([picture[5] for picture in pictures[20:]], [before[picture[2]] for picture in pictures[20:]])

    def test_formats_and_sizes(self):
        self.camera()
        for name, size in (("rgb24", "128x96"), ("gray16le", "64x64"), ("bayer_rggb8", "128x128")):
            with self.subTest(name):
                # On a busy machine the previous reader may still control Aravis' camera, or it may send nothing.
                for _ in range(3):
                    lines = self.drive("aravis.so", "127.0.0.1", 3, format=name, size=size, rate=30)
                    if self.pictures(lines):
                        break
                self.assertEqual({picture[:2] for picture in self.pictures(lines)}, {(size, name)}, lines)
        lines = self.drive("aravis.so", "127.0.0.1", 3, format="yuyv422")
        self.assertTrue(lines[1].startswith("open -6 "), lines)

    def test_cancellation(self):
        self.camera()
        lines = self.drive("aravis.so", "127.0.0.1", 10, rate=1, cancel=2)
        self.assertIn("next -17 The source was cancelled.", lines)
        took = next(int(line.split()[1]) for line in lines if line.startswith("cancelled-ms"))
        self.assertLess(took, 2000)

    def test_a_camera_that_is_not_there(self):
        lines = self.drive("aravis.so", "127.0.0.1", 1, seconds=60)
        self.assertTrue(lines[1].startswith("open -2 "), lines)
        lines = self.drive("aravis.so", "", 1, cancel=0, seconds=60)
        self.assertTrue(re.match("open (-17|-2) ", lines[1]), lines)

    def test_a_camera_that_goes_away(self):
        camera = self.camera()
        reading = subprocess.Popen(
            [self.path / "driver", self.path / "aravis.so", "127.0.0.1", "10000", "rate=20", "seconds=60"],
            stdout=subprocess.PIPE, text=True)
        try:
            lines = [reading.stdout.readline() for _ in range(5)]
            self.assertTrue(lines[4].startswith("picture"), lines)
            camera.kill()
            rest = reading.stdout.read()
        finally:
            reading.kill()
            reading.wait()
            reading.stdout.close()
        self.assertIn("interruption ", rest)
        self.assertIn("next -10 The camera has stopped answering", rest)
        self.assertIn("done ", rest)

    def test_two_readers_of_one_camera(self):
        self.camera()
        first = subprocess.Popen(
            [self.path / "driver", self.path / "aravis.so", "127.0.0.1", "10000", "rate=20"], stdout=subprocess.PIPE,
            text=True)
        try:
            for _ in range(4):
                first.stdout.readline()
            lines = self.drive("aravis.so", "127.0.0.1", 2, rate=20)
            self.assertTrue(re.match("open -[0-9]+ ", lines[1]), lines)
        finally:
            first.kill()
            first.wait()
            first.stdout.close()

    def test_symbols(self):
        self.assertEqual(self.exported("aravis.so"), ["inlet_plugin_entry"])


# The class has no tests itself.
del SampleTests

if __name__ == "__main__":
    unittest.main()
