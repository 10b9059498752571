"""An aiortc track with the pictures of `pattern:timecode`, drawn on request."""

import asyncio
import fractions
import time

import av
import numpy
from aiortc import VideoStreamTrack

import timecode


class Timecode(VideoStreamTrack):
    """Pictures with their frame number, counted from the first requested one."""

    def __init__(self, width, height, fps):
        super().__init__()
        self.width, self.height, self.fps = width, height, fps
        self.number, self.begun, self.is_paused = 0, time.monotonic(), False

    async def recv(self):
        while True:
            wait = self.begun + self.number / self.fps - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            elif wait < -1:
                # No pictures were requested for a while: the missed ones are skipped.
                self.begun -= wait
            if not self.is_paused:
                break
            self.number += 1
        luma = timecode.draw_luma(self.width, self.height, self.number, time.monotonic_ns(), self.fps)
        rows = numpy.full((self.height * 3 // 2, self.width), 128, numpy.uint8)
        rows[: self.height] = numpy.frombuffer(luma, numpy.uint8).reshape(self.height, self.width)
        frame = av.VideoFrame.from_ndarray(rows, format="yuv420p")
        frame.pts, frame.time_base = self.number * 90_000 // self.fps, fractions.Fraction(1, 90_000)
        self.number += 1
        return frame
