#!/usr/bin/env python3
"""Writes live y4m to standard output, like a camera in front of a crowd: the timecode at the top, and below it blocks
that change with each picture, so that an encoder uses all bits that it may. `busy-camera.py | inlet run - --to webrtc:`

Usage: busy-camera.py [--size WxH] [--fps N] [--block PIXELS] [--contrast LEVELS] [--seed N]
"""
import argparse
import random
import sys
import time

import timecode

KEPT = 256


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--block", type=int, default=8)
    parser.add_argument("--contrast", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    chance = random.Random(options.seed)
    top = 9 * height // timecode.CELLS
    lines = []
    for _ in range(KEPT):
        levels = (125 + chance.randint(-options.contrast, options.contrast) for _ in range(0, width, options.block))
        lines.append(b"".join(bytes([level]) * options.block for level in levels)[:width] * options.block)
    chroma = bytes([128]) * (2 * ((width + 1) // 2) * ((height + 1) // 2))
    out = sys.stdout.buffer
    out.write(f"YUV4MPEG2 W{width} H{height} F{options.fps}:1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n".encode())
    schedule = timecode.Schedule(options.fps, skips=False)
    try:
        while True:
            number = schedule.wait()
            luma = timecode.draw_luma(width, height, number, time.monotonic_ns(), options.fps)[: width * top]
            blocks = b"".join(chance.choices(lines, k=-(-(height - top) // options.block)))
            out.write(b"FRAME\n" + luma + blocks[: width * (height - top)] + chroma)
            out.flush()
    except BrokenPipeError:
        pass


main()
