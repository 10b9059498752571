#!/usr/bin/python3
"""Watches an RTSP stream of timecode pictures with a library's Python binding, like an application.

Writes a first line with the time before opening, and then a line per frame: its number, its drawing time, the time at
which the library delivered it, and whether its check digits are right. Times are CLOCK_MONOTONIC nanoseconds. With
--y4m it writes the pictures instead.
"""

import argparse
import os
import sys
import time

import timecode

OPTIONS = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
OPTIONS.add_argument("url")
OPTIONS.add_argument("--library", choices=["pyav", "opencv", "gstreamer"], required=True)
OPTIONS.add_argument("--transport", choices=["tcp", "udp"], default="tcp")
OPTIONS.add_argument("--y4m", action="store_true", help="write pictures")
OPTIONS.add_argument("--low-delay", action="store_true", help="use the library's options against delay")


class Output:
    def __init__(self, is_y4m):
        self.is_y4m, self.is_begun = is_y4m, False

    def begin(self):
        """Called right before the library opens the stream."""
        if not self.is_y4m:
            print("opening", time.monotonic_ns(), flush=True)

    def write(self, at, luma, picture, width, height):
        """Takes a packed luma plane, or any plane with the same black and white cells, and a function that returns the
        whole picture as I420."""
        if self.is_y4m:
            if not self.is_begun:
                sys.stdout.buffer.write(f"YUV4MPEG2 W{width} H{height} F30:1 Ip A1:1 C420jpeg\n".encode())
                self.is_begun = True
            sys.stdout.buffer.write(b"FRAME\n" + picture())
            sys.stdout.buffer.flush()
            return
        found = timecode.read(luma, width, height)
        print(*(found or (-1, 0)), at, int(found is not None), flush=True)


def pyav(options, output):
    import av

    settings = {"rtsp_transport": options.transport}
    if options.low_delay:
        settings.update(fflags="nobuffer", flags="low_delay")
    output.begin()
    container = av.open(options.url, options=settings)
    stream = container.streams.video[0]
    for frame in container.decode(stream):
        at = time.monotonic_ns()
        plane = frame.planes[0]
        luma, stride = bytes(plane), plane.line_size
        if stride != frame.width:
            luma = b"".join(luma[y * stride : y * stride + frame.width] for y in range(frame.height))
        output.write(at, luma, lambda: frame.to_ndarray(format="yuv420p").tobytes(), frame.width, frame.height)


def opencv(options, output):
    settings = [f"rtsp_transport;{options.transport}"] + (
        ["fflags;nobuffer", "flags;low_delay"] if options.low_delay else [])
    os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = "|".join(settings)
    import cv2

    output.begin()
    capture = cv2.VideoCapture(options.url, cv2.CAP_FFMPEG)
    if not capture.isOpened():
        sys.exit("isOpened() is false")
    while True:
        is_there, picture = capture.read()
        at = time.monotonic_ns()
        if not is_there:
            sys.exit("read() returned false")
        height, width = picture.shape[:2]
        luma = picture[:, :, 1].tobytes() if not output.is_y4m else None
        output.write(at, luma, lambda: cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420).tobytes(), width, height)


def gstreamer(options, output):
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    from gi.repository import Gst, GstApp  # noqa: F401: gives appsink its methods

    Gst.init(None)
    latency = "latency=0" if options.low_delay else ""
    pipeline = Gst.parse_launch(
        f'rtspsrc location="{options.url}" protocols={options.transport} {latency} ! rtph264depay ! '
        "avdec_h264 direct-rendering=false ! videoconvert ! video/x-raw,format=I420 ! appsink name=sink sync=false")
    sink = pipeline.get_by_name("sink")
    output.begin()
    pipeline.set_state(Gst.State.PLAYING)
    while True:
        sample = sink.try_pull_sample(100 * Gst.MSECOND)
        at = time.monotonic_ns()
        if sample is None:
            message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.EOS)
            if message is not None:
                sys.exit(message.parse_error()[0].message if message.type == Gst.MessageType.ERROR else "end of stream")
            continue
        structure = sample.get_caps().get_structure(0)
        width, height = structure.get_int("width")[1], structure.get_int("height")[1]
        buffer = sample.get_buffer()
        picture = buffer.extract_dup(0, buffer.get_size())
        output.write(at, picture, lambda: picture, width, height)


if __name__ == "__main__":
    chosen = OPTIONS.parse_args()
    try:
        {"pyav": pyav, "opencv": opencv, "gstreamer": gstreamer}[chosen.library](chosen, Output(chosen.y4m))
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
