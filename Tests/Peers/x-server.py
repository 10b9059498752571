#!/usr/bin/python3
"""Xvfb, an X server without a screen, and programs that draw on it. See README.md."""

import os
import signal
import subprocess
import time

import peer
import timecode


class Server:
    def __init__(self, options):
        self.options = options
        self.pictures = None
        read, write = os.pipe()
        self.child = peer.spawn(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{options.size}x{options.depth}", "-nolisten", "tcp",
             "-noreset",  # Otherwise it restarts when its last client leaves, and refuses new ones meanwhile.
             *(["-extension", options.without] if options.without else [])],
            pass_fds=[write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        if not number:
            peer.fail("Xvfb did not start")
        self.display = ":" + number

    @property
    def environment(self):
        return {**os.environ, "DISPLAY": self.display, "SDL_VIDEODRIVER": "x11", "SDL_AUDIODRIVER": "dummy"}

    def run(self, *arguments):
        done = subprocess.run(arguments, env=self.environment, capture_output=True, text=True, timeout=10)
        if done.returncode:
            raise RuntimeError(f"{arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def clear(self):
        if self.pictures:
            os.kill(self.pictures.pid, signal.SIGCONT)
            peer.stop_child(self.pictures)
        self.pictures = None

    def show(self, path):
        """Shows an XWD file in the upper-left corner, and returns when it is visible."""
        self.clear()
        self.pictures = peer.spawn(["xwud", "-geometry", "+0+0", "-in", path], env=self.environment)
        self.wait_for_window()

    def wait_for_window(self):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if "+0+0" in self.run("xwininfo", "-root", "-children"):
                time.sleep(0.3)  # xwud draws when it is told that its window is seen.
                return
            time.sleep(0.05)
        raise RuntimeError("no window came")

    def play(self, size, fps):
        """Shows live timecode pictures with ffplay in the upper-left corner. A busy machine skips some."""
        self.start_player(size, fps, "-framedrop")
        timecode.feed(self.pictures, size, fps)
        self.wait_for_window()

    def draw(self, size, number):
        """Shows one timecode picture with ffplay in the upper-left corner. The first picture may not be shown."""
        if not self.pictures:
            self.start_player(size, 60, "-noframedrop")
        width, height = (int(side) for side in size.split("x"))
        self.pictures.stdin.write(timecode.draw(width, height, number, time.monotonic_ns()))
        self.pictures.stdin.flush()

    def start_player(self, size, fps, *options):
        self.clear()
        self.pictures = peer.spawn(
            ["ffplay", "-hide_banner", "-loglevel", "error", "-noborder", "-left", "0", "-top", "0", "-an",
             "-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size", size, "-framerate", str(fps),
             "-fflags", "nobuffer", *options, "-i", "pipe:0"], env=self.environment, stdin=subprocess.PIPE)

    def pause(self):
        """Stops ffplay; its last picture stays."""
        os.kill(self.pictures.pid, signal.SIGSTOP)

    def resize(self, size):
        width, height = size.split("x")
        self.run("xrandr", "--newmode", size, "40", *[width] * 4, *[height] * 4)
        self.run("xrandr", "--addmode", "screen", size)
        self.run("xrandr", "--output", "screen", "--mode", size)

    def segments(self):
        """Returns the number of Inlet's memory segments that the server has mapped."""
        with open(f"/proc/{self.child.pid}/maps") as maps:
            return {"count": sum("memfd:inlet-screen" in line for line in maps)}

    def signal(self, number):
        os.kill(self.child.pid, number)


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--size", default="640x480")
    parser.add_argument("--depth", type=int, default=24)
    parser.add_argument("--without", help="an extension to disable in the server")
    options = parser.parse_args()
    server = Server(options)
    peer.serve(options, {
        "show": lambda message: server.show(message["path"]),
        "play": lambda message: server.play(message["size"], int(message["fps"])),
        "draw": lambda message: server.draw(message["size"], int(message["number"])),
        "pause": lambda message: server.pause(),
        "clear": lambda message: server.clear(),
        "pointer": lambda message: server.run("xdotool", "mousemove", str(message["x"]), str(message["y"])) and None,
        "resize": lambda message: server.resize(message["size"]),
        "segments": lambda message: server.segments(),
        "freeze": lambda message: server.signal(signal.SIGSTOP),
        "thaw": lambda message: server.signal(signal.SIGCONT),
        "kill": lambda message: server.signal(signal.SIGKILL),
    }, {"display": server.display})
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main()
