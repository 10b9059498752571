"""Pictures that say their number and when they were drawn: what `pattern:timecode` draws, see TimecodeLayout.swift."""

import time
import zlib

BLACK, WHITE, BACKGROUND = 16, 235, 100


def draw(width, height, frame, nanoseconds, fps=30):
    """A packed I420 picture of limited range."""
    def span(cell, side):
        return (cell + 1) * side // 16 - cell * side // 16

    payload = (frame & 0xFFFFFFFF) << 64 | nanoseconds & 0xFFFFFFFFFFFFFFFF
    code = payload << 32 | zlib.crc32(payload.to_bytes(12, "big"))
    widths = [span(cell, width) for cell in range(16)]
    black = [bytes([BLACK]) * each for each in widths]
    white = [bytes([WHITE]) * each for each in widths]
    rows = [b"".join((white if column % 2 else black)[column] for column in range(16)) * span(0, height)]
    for row in range(1, 9):
        bits = [code >> (127 - ((row - 1) * 16 + column)) & 1 for column in range(16)]
        rows.append(b"".join((white if bit else black)[column] for column, bit in enumerate(bits)) * span(row, height))
    sweep = max(16, round(fps))
    bar = width // 16
    left = frame % sweep * (width - bar) // sweep
    line = bytes([BACKGROUND]) * left + bytes([WHITE]) * bar + bytes([BACKGROUND]) * (width - bar - left)
    rows.append(line * (height - 9 * height // 16))
    chroma = (width + 1) // 2 * ((height + 1) // 2)
    rows.append(bytes([128]) * (2 * chroma))
    return b"".join(rows)


class Schedule:
    """Numbers frames by the clock from the making of this object on, as a camera does: late frames are left out, never queued."""

    def __init__(self, fps):
        self.fps = fps
        self.start = time.monotonic_ns()
        self.next = 0

    def wait(self):
        """Sleeps until the next frame is due and returns its number."""
        now = time.monotonic_ns() - self.start
        number = max(self.next, int(now * self.fps // 1_000_000_000))
        pause = number * 1_000_000_000 / self.fps - now
        if pause > 0:
            time.sleep(pause / 1e9)
        self.next = number + 1
        return number
