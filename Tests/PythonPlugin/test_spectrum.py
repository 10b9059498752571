"""Tests of Samples/PythonSource against a scripted host."""

import json
import sys
import time
import unittest
from pathlib import Path

import numpy

sys.path[:0] = [str(Path(__file__).resolve().parent)]
from scripted_host import ROOT, Host

FOLDER = ROOT / "Samples/PythonSource"


class SpectrumTests(unittest.TestCase):
    def start(self, **chosen):
        manifest = json.loads((FOLDER / "spectrum.inlet.json").read_text())
        self.assertEqual(manifest["command"][0], "python3")
        options = {option["name"]: str(option["default"]) for option in manifest["sources"][0]["options"]}
        host = Host([sys.executable, str(FOLDER / manifest["command"][1])])
        self.assertEqual(host.create(options=list({**options, **chosen}.items()), scheme="spectrum").result, 0)
        return host

    def planes(self, item):
        width, height = -(-item.width // 2), -(-item.height // 2)
        return [
            numpy.frombuffer(item.plane(index, rows, columns), numpy.uint8).reshape(rows, columns)
            for index, (rows, columns) in enumerate(((item.height, item.width), (height, width), (height, width)))]

    def test_the_picture_moves(self):
        for size in ("640x360", "33x17"):
            with self.subTest(size), self.start(size=size, rate="120") as host:
                stream = host.open()
                self.assertEqual(f"{stream.width}x{stream.height} {stream.pixel_format}", f"{size} yuv420p")
                self.assertEqual((stream.time_base, stream.frame_rate), ((1, 120), (120, 1)))
                before = None
                for number in range(3):
                    item = host.next()
                    self.assertEqual((item.pts, item.sequence, item.color), (number, number, (1, 1, 1, 1)))
                    luma, cb, cr = self.planes(item)
                    self.assertTrue(min(plane.std() for plane in (luma, cb, cr)) > 10)
                    if before:
                        self.assertTrue((luma[1:] == before[0][:-1]).all())
                        self.assertTrue((cb[:, :-1] == before[1][:, 1:]).all())
                        self.assertTrue((cr[:, :-1] == before[2][:, 1:]).all())
                    before = luma, cb, cr
                self.assertEqual(host.close(), 0)

    def test_no_picture_comes_before_it_is_due(self):
        with self.start(rate="30000/1001") as host:
            host.open()
            items = [host.next() for _ in range(4)]
            self.assertGreaterEqual(time.monotonic_ns(), items[-1].capture_time)
            self.assertEqual(items[3].capture_time - items[0].capture_time, 3 * 1001 * 1_000_000_000 // 30000)


if __name__ == "__main__":
    unittest.main()
