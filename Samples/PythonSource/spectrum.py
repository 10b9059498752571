#!/usr/bin/env python3
"""A source that draws a moving spectrum: `inlet run spectrum: --to null:`."""

import inlet_plugin as inlet
import numpy


class Spectrum(inlet.Source):
    """Rainbow colours that move left, with a ramp of brightness that moves down."""

    def open(self, options: dict[str, str]) -> inlet.Stream:
        self.width, self.height = (int(side) for side in options["size"].split("x"))
        numerator, _, denominator = options["rate"].partition("/")
        self.rate = (int(numerator), int(denominator or 1))
        # The hues of a row of chroma, twice, so that each phase of the movement is a slice.
        angles = numpy.arange(-(-self.width // 2)) * (2 * numpy.pi * int(options["bands"]) / (self.width / 2))
        self.cb, self.cr = (
            numpy.tile((128 + 90 * wave(angles)).astype(numpy.uint8), 2) for wave in (numpy.cos, numpy.sin))
        self.luma = numpy.tile(numpy.linspace(60, 200, self.height).astype(numpy.uint8), 2)
        self.began = inlet.now()
        return inlet.Stream(
            "yuv420p", self.width, self.height, pacing=inlet.Pacing.REALTIME, time_base=self.rate[::-1],
            frame_rate=self.rate, color=inlet.Color(1, 1, 1, 1))

    def next(self, deadline: int) -> inlet.Frame | None:
        due = self.began + self.sequence * 1_000_000_000 * self.rate[1] // self.rate[0]
        if not self.wait(until=due):
            return None
        slot = self.slot("yuv420p", self.width, self.height)
        luma, cb, cr = slot.arrays
        row = self.height - 1 - self.sequence % self.height
        luma[:] = self.luma[row:row + self.height, None]
        column = self.sequence % cb.shape[1]
        cb[:] = self.cb[column:column + cb.shape[1]]
        cr[:] = self.cr[column:column + cr.shape[1]]
        return inlet.Frame(
            slot, pts=self.sequence, duration=1, capture_time=due, color=inlet.Color(1, 1, 1, 1))

    def pause(self) -> None:
        self.paused = inlet.now()

    def resume(self) -> None:
        self.began += inlet.now() - self.paused


if __name__ == "__main__":
    inlet.run(Spectrum)
