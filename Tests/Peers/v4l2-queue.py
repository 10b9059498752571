#!/usr/bin/python3
"""A queue of known length between two devices of v4l2loopback: each picture that a program writes to one device appears
at the other after a given time.

See README.md.
"""

import collections
import fcntl
import os
import select
import struct
import threading
import time

import peer

# linux/videodev2.h: VIDIOC_S_FMT with a structure of 208 bytes, and VIDIOC_STREAMON.
S_FMT, STREAMON = 0xC0D05605, 0x40045612
CAPTURE, OUTPUT = 1, 2
PROGRESSIVE = 1
# The silence after which the writer counts as gone.
PATIENCE = 1.0


class Queue:
    def __init__(self, options):
        self.options = options
        self.waiting, self.arrived = collections.deque(), threading.Condition()
        width, height = map(int, options.size.split("x"))
        self.size = width * height * 3 // 2
        self.target = os.open(options.target, os.O_RDWR)
        layout = bytearray(208)
        struct.pack_into("I", layout, 0, OUTPUT)
        struct.pack_into("<II4sIII", layout, 8, width, height, b"YU12", PROGRESSIVE, width, self.size)
        fcntl.ioctl(self.target, S_FMT, layout)
        # The device becomes a camera with its first picture, which is green.
        os.write(self.target, bytes(self.size))
        threading.Thread(target=self.write, daemon=True).start()

    def write(self):
        while True:
            with self.arrived:
                self.arrived.wait_for(lambda: self.waiting)
                due, picture = self.waiting.popleft()
            time.sleep(max(0, due - time.monotonic()))
            os.write(self.target, picture)

    def read(self):
        """Reads the pictures of one writer."""
        source = os.open(self.options.source, os.O_RDWR | os.O_NONBLOCK)
        try:
            # v4l2loopback 0.12.7 announces pictures only to a streaming client, even if the client takes them in
            # another way.
            fcntl.ioctl(source, STREAMON, struct.pack("i", CAPTURE))
            while select.select([source], [], [], PATIENCE)[0]:
                picture = os.read(source, self.size)
                with self.arrived:
                    self.waiting.append((time.monotonic() + self.options.milliseconds / 1000, picture))
                    self.arrived.notify()
        finally:
            os.close(source)


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--source", required=True, help="the device to write to")
    parser.add_argument("--target", required=True, help="the device that outputs the pictures")
    parser.add_argument("--size", required=True, help="WIDTHxHEIGHT of the pictures, which are planar YUV 4:2:0")
    parser.add_argument("--milliseconds", type=float, default=0, help="how long each picture is held")
    options = parser.parse_args()
    queue = Queue(options)
    peer.serve(options, {}, {})
    while True:
        try:
            queue.read()
        except OSError:
            # There is no writer yet.
            time.sleep(0.05)


main()
