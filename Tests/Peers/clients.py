"""Programs that watch a live stream of timecode pictures, with their pictures, output and times, and the servers they
watch.

For the scripts that compare Inlet with others: Scripts/faults and Scripts/bench-network.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import timecode

PEERS = Path(__file__).resolve().parent
ROOT = PEERS.parent.parent
# Debian's Python has Debian's modules, even if another Python is installed.
PYTHON = "/usr/bin/python3"
PIPE_BYTES = 1 << 20
MOST_LINES = 2000


class Server:
    """A script of this folder, controlled by commands. It ends together with its children."""

    def __init__(self, script, *arguments):
        self.script, self.is_stopped = script, False
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [PYTHON, "-B", str(PEERS / script), *(str(each) for each in arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, text=True, start_new_session=True)
        self.lock = threading.Lock()
        # A script prints its line or ends. If it does neither, it is killed.
        watch = threading.Timer(20, self.process.kill)
        watch.start()
        line = self.process.stdout.readline()
        watch.cancel()
        self.ready = json.loads(line or '{"error": ""}')
        if "error" in self.ready:
            why = self.ready["error"] or self.trouble(5)
            self.stop()
            raise ServerTrouble(f"{script}: {why}")
        self.port = self.ready["port"]
        self.url = self.ready.get("url")

    def command(self, name, **message):
        with self.lock:
            watch = threading.Timer(10, self.process.kill)
            watch.start()
            try:
                self.process.stdin.write(json.dumps({"command": name, **message}) + "\n")
                self.process.stdin.flush()
                line = self.process.stdout.readline()
            except OSError:
                line = ""
            watch.cancel()
        answer = json.loads(line or '{"ok": false, "error": "the server has ended"}')
        if not answer["ok"]:
            raise ServerTrouble(f"{self.script}, {name}: {answer['error']}")
        return answer

    def trouble(self, seconds=0):
        """Returns the reason why the script ended by itself, or None."""
        if self.is_stopped:
            return None
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self.errors.seek(0)
        return f"{self.script} ended by itself with {status}: {self.errors.read()[-500:].strip() or 'it said nothing'}"

    def kill(self):
        """Kills the script, so that the system closes its connections."""
        self.is_stopped = True
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.is_stopped = True
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process.stdout.close()
        self.errors.close()


class ServerTrouble(Exception):
    """A server of the test failed to start, or ended by itself. The result of that row or round doesn't count."""


class Shown:
    """A frame that the reader got: the time, its number, its drawing time, and whether it is the drawn picture.

    Times are CLOCK_MONOTONIC nanoseconds.
    """

    __slots__ = ("at", "number", "drawn", "is_whole")

    def __init__(self, at, number, drawn, is_whole):
        self.at, self.number, self.drawn, self.is_whole = at, number, drawn, is_whole

    @property
    def delay(self):
        return self.at - self.drawn


class Watcher:
    """A program that writes y4m to its standard output, which is read as it comes.

    `is_compared` returns whether to compare whole pictures at a time.
    """

    def __init__(self, name, command, environment=None, fps=30, is_compared=lambda at: True):
        self.name, self.fps, self.is_compared = name, fps, is_compared
        self.frames, self.lines, self.ended, self.status, self.usage = [], [], None, None, None
        self.began = time.monotonic_ns()
        self.process = subprocess.Popen(
            [str(each) for each in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            bufsize=0, env={**os.environ, **(environment or {})}, start_new_session=True)
        set_pipe_size(self.process.stdout)
        self.threads = [
            threading.Thread(target=each, daemon=True) for each in (self.read_frames, self.read_lines, self.wait)]
        for thread in self.threads:
            thread.start()

    @property
    def pid(self):
        return self.process.pid

    def read_frames(self):
        with self.process.stdout as pipe:
            header = read_line(pipe)
            fields = {word[:1]: word[1:] for word in header.split()[1:]}
            if not header.startswith("YUV4MPEG2"):
                return
            width, height = int(fields["W"]), int(fields["H"])
            picture = bytearray(width * height + 2 * ((width + 1) // 2 * ((height + 1) // 2)))
            while read_line(pipe).startswith("FRAME") and fill(pipe, picture):
                self.take(time.monotonic_ns(), bytes(picture), width, height)

    def take(self, at, picture, width, height):
        found = timecode.read(picture, width, height)
        if found is None:
            self.frames.append(Shown(at, None, None, False))
        else:
            is_whole = not self.is_compared(at) or timecode.is_whole(picture, width, height, *found, self.fps)
            self.frames.append(Shown(at, *found, is_whole))

    def read_lines(self):
        with self.process.stderr as pipe:
            while line := read_line(pipe, limit=10_000):
                if len(self.lines) < MOST_LINES and line.strip():
                    self.lines.append((time.monotonic_ns(), line.rstrip()))

    def wait(self):
        _, status, self.usage = os.wait4(self.process.pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        self.ended = time.monotonic_ns()

    @property
    def whole(self):
        return [frame for frame in self.frames if frame.is_whole]

    @property
    def peak_kib(self):
        return self.usage.ru_maxrss if self.usage else None

    def cpu_seconds(self):
        """Returns the CPU time of the program so far, or None after its end."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, seconds=5):
        """Asks the program to end, like Ctrl-C, and kills it after a while.

        Returns the seconds until the end, or None if it was killed.
        """
        asked = time.monotonic_ns()
        if self.ended is None:
            self.signal(signal.SIGINT)
        self.threads[2].join(seconds)
        is_killed = self.ended is None
        if is_killed:
            self.signal(signal.SIGKILL)
        for thread in self.threads:
            thread.join(5)
        return None if is_killed else max(0, self.ended - asked) / 1e9

    def signal(self, number):
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass


def set_pipe_size(pipe):
    import fcntl

    try:
        fcntl.fcntl(pipe, 1031, PIPE_BYTES)  # F_SETPIPE_SZ
    except OSError:
        pass  # More than an ordinary user may have in pipes.


def read_line(pipe, limit=1000):
    """Reads a line from an unbuffered pipe, without the bytes after it."""
    line = b""
    while not line.endswith(b"\n") and len(line) < limit:
        try:
            byte = pipe.read(1)
        except OSError:
            break
        if not byte:
            break
        line += byte
    return line.decode("utf-8", "replace")


def fill(pipe, buffer):
    view, got = memoryview(buffer), 0
    while got < len(buffer):
        count = pipe.readinto(view[got:])
        if not count:
            return False
        got += count
    return True


def inlet(program, url, transport, *options):
    mark = "&" if "?" in url else "?"
    return [program, "run", f"{url}{mark}transport={transport}", "--to", "y4m:-", "--report", "json", *options]


def ffmpeg(url, transport, *options):
    return [
        "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-loglevel", "warning", *options,
        "-rtsp_transport", transport, "-i", url, "-fps_mode", "passthrough", "-pix_fmt", "yuv420p",
        "-f", "yuv4mpegpipe", "-"]


def gstreamer(url, transport, *options):
    # Without direct-rendering=false, y4menc writes the decoder's padding as part of the picture.
    return [
        "gst-launch-1.0", "-q", "rtspsrc", f"location={url}", f"protocols={transport}", *options, "!", "rtph264depay",
        "!", "avdec_h264", "direct-rendering=false", "!", "videoconvert", "!", "y4menc", "!", "fdsink"]


def library(name, url, transport, *options):
    return [PYTHON, "-B", PEERS / "library-reader.py", "--library", name, "--transport", transport, *options, url]


def has_module(name):
    return subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True).returncode == 0


def bootstrap(*options):
    done = subprocess.run([ROOT / "Scripts" / "bootstrap", *options, "--quiet"], stdout=sys.stderr)
    if done.returncode:
        sys.exit(done.returncode)


def build_inlet():
    """Returns the path of a release build of inlet."""
    build = ["swift", "build", "--configuration", "release"]
    say("building inlet")
    for command in ([*build, "--product", "inlet"], [*build, "--show-bin-path"]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1800)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return Path(done.stdout.strip()) / "inlet"


def say(text):
    """Prints progress, for a terminal or a log."""
    print(text, file=sys.stderr, flush=True)


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else None


def median(values):
    return statistics.median(values) if values else None


def table(header, rows):
    """Returns a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
