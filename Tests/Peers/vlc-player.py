#!/usr/bin/python3
"""VLC without a screen plays files one after another, and writes the pictures that it decodes as raw bytes.

See README.md.

Usage: vlc-player.py FOLDER FILE...

FOLDER/NAME.raw contains the pictures of the file NAME, 4:2:0, one after another.
"""

import os
import shutil
import subprocess
import sys

import peer

LIMIT = 120


def main():
    if len(sys.argv) < 3:
        peer.fail(__doc__)
    if not shutil.which("cvlc"):
        peer.fail("VLC is missing: apt-get install vlc-bin vlc-plugin-base")
    folder, *files = sys.argv[1:]
    # VLC refuses root, so it runs as nobody and must be able to write here.
    os.chmod(folder, 0o777)
    home = f"{peer.folder()}/home"
    os.mkdir(home)
    os.chmod(home, 0o777)
    items = []
    for file in files:
        name = os.path.basename(file)
        # VLC calls full-range 4:2:0 J420, the format of JPEG; with I420 it compresses the range.
        format = "J420" if "mjpeg" in name else "I420"
        items += [file, f":sout=#transcode{{vcodec={format}}}:file{{mux=dummy,dst={folder}/{name}.raw}}"]
    child = peer.spawn(
        ["cvlc", "--quiet", "--no-audio", "--play-and-exit", "--no-drop-late-frames", "--no-skip-frames",
         "--no-avcodec-hurry-up", *items, "vlc://quit"],
        user="nobody", env={**os.environ, "HOME": home}, stdin=subprocess.DEVNULL, stdout=2)
    try:
        peer.end(child.wait(LIMIT))
    except subprocess.TimeoutExpired:
        peer.fail(f"VLC did not end within {LIMIT} s")


if __name__ == "__main__":
    main()
