"""An `inlet run ... --to webrtc:`, or with `whip:`, for scripts that measure the whole process."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import peer

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AIORTC = f"{ROOT}/.build/peers/bin/python"
# An offer like a browser's, shortened.
OFFER = "\r\n".join([
    "v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0",
    "a=group:BUNDLE 0", "a=extmap-allow-mixed", "a=msid-semantic: WMS",
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103 106 107", "c=IN IP4 0.0.0.0", "a=rtcp:9 IN IP4 0.0.0.0",
    "a=ice-ufrag:Zr4X", "a=ice-pwd:0PmVn2GzYv0xkhPzKVQ4vYhx", "a=ice-options:trickle",
    "a=fingerprint:sha-256 " + ":".join(f"{n:02X}" for n in range(1, 33)),
    "a=setup:actpass", "a=mid:0", "a=extmap:1 urn:ietf:params:rtp-hdrext:toffset",
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time", "a=extmap:3 urn:3gpp:video-orientation",
    "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
    "a=recvonly", "a=rtcp-mux", "a=rtcp-rsize",
    "a=rtpmap:96 VP8/90000", "a=rtcp-fb:96 goog-remb", "a=rtcp-fb:96 transport-cc", "a=rtcp-fb:96 ccm fir",
    "a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96",
    "a=rtpmap:102 H264/90000", "a=rtcp-fb:102 goog-remb",
    "a=rtcp-fb:102 transport-cc", "a=rtcp-fb:102 ccm fir", "a=rtcp-fb:102 nack", "a=rtcp-fb:102 nack pli",
    "a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f",
    "a=rtpmap:103 rtx/90000", "a=fmtp:103 apt=102",
    "a=rtpmap:106 H264/90000", "a=rtcp-fb:106 transport-cc", "a=rtcp-fb:106 nack", "a=rtcp-fb:106 nack pli",
    "a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
    "a=rtpmap:107 rtx/90000", "a=fmtp:107 apt=106",
    "a=candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 0.0.0.0 rport 0 generation 0",
    "a=candidate:1 1 udp 2113937151 127.0.0.1 9 typ host generation 0", ""])
PATTERN = "pattern:timecode?size={size}&fps={fps}"


def add_options(parser, size="1280x720", fps=30):
    """Adds the options of all such scripts."""
    parser.add_argument("--inlet", default=f"{ROOT}/.build/release/inlet",
                        help="built with the trait GStreamer; the default is the release build")
    parser.add_argument("--size", default=size)
    parser.add_argument("--fps", type=int, default=fps)
    parser.add_argument("--sink", default="", help="further options of webrtc:, such as bitrate=4000000")


class Inlet:
    """The process, for a `with` statement.

    The source is the timecode pattern, another URI, or y4m from `camera`'s standard output.

    `reached_at` replaces the host in the server's address. `within` is a prefix of the command. With `takes_publishers`
    the source is `whip:`.
    """

    TOKEN = "let-me-in"

    def __init__(self, options, source=None, camera=None, host="127.0.0.1", port=None, reached_at=None, within=(),
                 takes_publishers=False):
        port = port or peer.free_port()
        self.address = f"{reached_at or host}:{port}"
        self.page = f"http://{self.address}/?token={self.TOKEN}"
        self.endpoint = f"http://{self.address}/{'whip' if takes_publishers else 'whep'}"
        self.camera = camera
        self.command = [
            *within, options.inlet, "run",
            "-" if camera else source or PATTERN.format(size=options.size, fps=options.fps),
            # All viewers of a script have the same address.
            "--to", f"webrtc:{host}:{port}?token={self.TOKEN}&per-client=100{options.sink and '&' + options.sink}",
            "--report", "none"]
        if takes_publishers:
            self.command = [
                *within, options.inlet, "run", f"whip:{host}:{port}?token={self.TOKEN}", "--to", "null:",
                "--report", "none"]

    def __enter__(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            self.command, stdin=self.camera.stdout if self.camera else subprocess.DEVNULL,
            stdout=self.log, stderr=self.log)
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self.viewers()
                return self
            except OSError:
                time.sleep(0.05)
        text = self.text()
        self.__exit__()
        sys.exit(f"{' '.join(self.command)} does not serve:\n{text[-2000:]}")

    def __exit__(self, *_):
        stop(self.process)
        self.log.close()

    def text(self):
        """Returns the process's output."""
        self.log.seek(0)
        return self.log.read()

    def end(self):
        """Stops the process. Returns errors of its end, and the end of its output, such as a sanitizer's report."""
        stop(self.process)
        code = self.process.returncode
        return [] if code in (0, 130, 143) else [f"the server ended with {code}: {self.text()[-6000:]}"]

    def viewers(self, limit=5):
        """Returns the viewers in /stats.json."""
        request = urllib.request.Request(
            f"http://{self.address}/stats.json", headers={"authorization": f"Bearer {self.TOKEN}"})
        with urllib.request.urlopen(request, timeout=limit) as answer:
            told = json.load(answer)
        # A publisher endpoint states only whether a publisher is connected.
        return told["viewers"] if "viewers" in told else ["the publisher"] * told["published"]

    def counts(self):
        """Returns the process's threads, descriptors and resident kilobytes."""
        root = f"/proc/{self.process.pid}"
        with open(root + "/status") as status:
            resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        return {"threads": len(os.listdir(root + "/task")), "descriptors": len(os.listdir(root + "/fd")),
                "resident_kib": resident}

    def growth(self, before, memory, limit=15):
        """Returns the remaining growth some seconds after the last viewer: queues keep a few threads for a while, each
        with one or two descriptors."""
        end = time.monotonic() + limit
        while True:
            now = self.counts()
            grown = [
                f"{name} grew from {before[name]} to {now[name]}"
                for name, room in (("threads", 8), ("descriptors", 8), ("resident_kib", memory))
                if now[name] > before[name] + room]
            if not grown or time.monotonic() > end:
                return grown
            time.sleep(0.5)

    def cpu(self):
        """Returns the process's CPU time in seconds."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stop(process):
    """Asks a process to end, then kills it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(number)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            continue


def busy_camera(options):
    """Starts busy-camera.py with the size and rate of the options."""
    return subprocess.Popen(
        ["/usr/bin/python3", "-B", f"{ROOT}/Tests/Peers/busy-camera.py", "--size", options.size,
         "--fps", str(options.fps)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
