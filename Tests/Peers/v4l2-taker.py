#!/usr/bin/python3
"""A program that takes a camera's buffers as soon as no other program has them, so that others get EBUSY.

See README.md.
"""

import fcntl
import glob
import os
import struct
import threading
import time

import peer

# linux/videodev2.h: VIDIOC_QUERYCAP and VIDIOC_REQBUFS.
QUERYCAP, REQBUFS = 0x80685600, 0xC0145608
CAPTURE, MMAP = 1, 1
VIDEO_CAPTURE, TOUCH = 0x1, 0x10000000


def buses_camera(path, bus):
    """Returns a descriptor of the node if it is a camera on that bus."""
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    about = bytearray(104)
    try:
        fcntl.ioctl(descriptor, QUERYCAP, about)
        capabilities = struct.unpack_from("I", about, 88)[0]
        if about[48:80].rstrip(b"\0").decode() == bus and capabilities & (VIDEO_CAPTURE | TOUCH) == VIDEO_CAPTURE:
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


class Taker:
    def __init__(self):
        self.held, self.done, self.wanted = None, threading.Event(), False

    def take(self, message):
        """Tries until it has the camera, or until `free`."""
        self.done.clear()
        self.wanted = True
        self.thread = threading.Thread(target=self.spin, args=(message["bus"],), daemon=True)
        self.thread.start()

    def spin(self, bus):
        descriptor = None
        while self.wanted:
            try:
                if descriptor is None:
                    for path in glob.glob("/dev/video*"):
                        descriptor = buses_camera(path, bus)
                        if descriptor is not None:
                            break
                    continue
                fcntl.ioctl(descriptor, REQBUFS, bytearray(struct.pack("5I", 2, CAPTURE, MMAP, 0, 0)))
                self.held = descriptor
                self.done.set()
                return
            except BlockingIOError:
                pass
            except OSError as error:
                if error.errno != 16 and descriptor is not None:
                    # The camera was unplugged.
                    os.close(descriptor)
                    descriptor = None
        if descriptor is not None:
            os.close(descriptor)

    def free(self, _):
        self.wanted = False
        self.thread.join(10)
        if self.held is not None:
            os.close(self.held)
        self.held = None
        self.done.clear()


def main():
    options = peer.parser(__doc__).parse_args()
    taker = Taker()
    peer.serve(options, {
        "take": taker.take, "free": taker.free,
        "taken": lambda message: {"taken": taker.done.wait(message["seconds"])}}, {})
    while True:
        time.sleep(3600)


main()
