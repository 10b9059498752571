"""Draws the pictures of `pattern:timecode`, with their frame number and drawing time (see TimecodeLayout.swift), and
reads them."""

import functools
import threading
import time
import zlib

BLACK, WHITE, BACKGROUND = 16, 235, 100
CELLS = 16

# Lossy compression changes samples, so each is mapped to its level; values between levels map to 0. Comparing pictures
# is then as fast as memcmp.
LUMA_LEVELS = bytes(BLACK if y < 60 else BACKGROUND if 70 <= y < 130 else WHITE if y >= 170 else 0 for y in range(256))
CHROMA_LEVELS = bytes(128 if 104 <= c < 152 else 0 for c in range(256))
# The allowed number of mismatching samples, at edges. A damaged macroblock has 256.
TOLERATED = 64


def draw(width, height, frame, nanoseconds, fps=30):
    """Returns a packed I420 picture of limited range."""
    chroma = (width + 1) // 2 * ((height + 1) // 2)
    return draw_luma(width, height, frame, nanoseconds, fps) + bytes([128]) * (2 * chroma)


def draw_luma(width, height, frame, nanoseconds, fps):
    def span(cell, side):
        return (cell + 1) * side // CELLS - cell * side // CELLS

    payload = (frame & 0xFFFFFFFF) << 64 | nanoseconds & 0xFFFFFFFFFFFFFFFF
    code = payload << 32 | zlib.crc32(payload.to_bytes(12, "big"))
    widths = [span(cell, width) for cell in range(CELLS)]
    black = [bytes([BLACK]) * each for each in widths]
    white = [bytes([WHITE]) * each for each in widths]
    rows = [b"".join((white if column % 2 else black)[column] for column in range(CELLS)) * span(0, height)]
    for row in range(1, 9):
        bits = [code >> (127 - ((row - 1) * CELLS + column)) & 1 for column in range(CELLS)]
        rows.append(b"".join((white if bit else black)[column] for column, bit in enumerate(bits)) * span(row, height))
    sweep = max(16, round(fps))
    bar = width // CELLS
    left = frame % sweep * (width - bar) // sweep
    line = bytes([BACKGROUND]) * left + bytes([WHITE]) * bar + bytes([BACKGROUND]) * (width - bar - left)
    rows.append(line * (height - 9 * height // CELLS))
    return b"".join(rows)


def read(luma, width, height):
    """Returns the frame number and the nanoseconds in a packed picture's luma, or None if its check digits are wrong.
    """
    def level(cell):
        return sum(sum(luma[line + cell.start : line + cell.stop]) for line in cell.lines)

    reference, bits = cells(width, height)
    levels = [level(cell) for cell in reference]
    black, white = sum(levels[::2]), sum(levels[1::2])
    if white <= black * 1.2:
        return None
    threshold = (black + white) / CELLS
    code = 0
    for cell in bits:
        code = code << 1 | (level(cell) > threshold)
    payload = code >> 32
    if zlib.crc32(payload.to_bytes(12, "big")) != code & 0xFFFFFFFF:
        return None
    return payload >> 64, payload & 0xFFFFFFFFFFFFFFFF


class Cell:
    """The sampled area of a cell: the middle half of three lines near its middle."""

    def __init__(self, column, row, width, height):
        left, right = column * width // CELLS, (column + 1) * width // CELLS
        top, bottom = row * height // CELLS, (row + 1) * height // CELLS
        inset, middle, step = (right - left) // 4, (top + bottom) // 2, max(1, (bottom - top) // 8)
        self.start, self.stop = left + inset, right - inset
        self.lines = [(middle + offset) * width for offset in (-step, 0, step)]


@functools.lru_cache
def cells(width, height):
    """Returns the cells of the reference row, and those that contain bits, the most significant first."""
    rows = [[Cell(column, row, width, height) for column in range(CELLS)] for row in range(9)]
    return rows[0], sum(rows[1:], [])


def misfits(picture, width, height, frame, nanoseconds, fps=30):
    """Returns the number of samples of a packed I420 picture that differ from the drawn ones by more than lossy
    compression can explain."""
    size = width * height
    count = len(picture) - size - picture[size:].translate(CHROMA_LEVELS).count(128)
    shown = picture[:size].translate(LUMA_LEVELS)
    drawn = draw_luma(width, height, frame, nanoseconds, fps)
    if shown != drawn:
        different = int.from_bytes(shown, "big") ^ int.from_bytes(drawn, "big")
        count += size - different.to_bytes(size, "big").count(0)
    return count


def is_whole(picture, width, height, frame, nanoseconds, fps=30):
    """Returns whether a packed I420 picture is the drawn one."""
    return misfits(picture, width, height, frame, nanoseconds, fps) <= TOLERATED


class Schedule:
    """Numbers frames by the time since this object was created, as a camera does. Late frames are skipped, not queued,
    unless every frame is required."""

    def __init__(self, fps, skips=True):
        self.fps = fps
        self.skips = skips
        self.start = time.monotonic_ns()
        self.next = 0

    def wait(self):
        """Sleeps until the next frame is due and returns its number."""
        now = time.monotonic_ns() - self.start
        number = max(self.next, int(now * self.fps // 1_000_000_000)) if self.skips else self.next
        pause = number * 1_000_000_000 / self.fps - now
        if pause > 0:
            time.sleep(pause / 1e9)
        self.next = number + 1
        return number


def feed(player, size, fps):
    """Draws live pictures into a program's input, on a thread, until the program ends."""
    width, height = (int(side) for side in size.split("x"))
    schedule = Schedule(fps)

    def work():
        try:
            while True:
                number = schedule.wait()
                player.stdin.write(draw(width, height, number, time.monotonic_ns(), fps))
                player.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass

    threading.Thread(target=work, daemon=True).start()
