#!/usr/bin/python3
"""ffmpeg as the sender of RTMP, SRT, UDP, RTP or plain TCP: a file, or live timecode pictures. See README.md."""

import fractions
import socket
import subprocess
import threading
import time

import peer
import timecode


def url_of(options, port):
    return {
        "rtmp": f"rtmp://127.0.0.1:{port}/live/stream",
        "srt": f"srt://127.0.0.1:{port}",
        "udp": f"udp://127.0.0.1:{port}",
        "tcp": f"tcp://127.0.0.1:{port}",
        "rtp": f"rtp://127.0.0.1:{port}",
    }[options.to]


def output(options, url):
    return {
        "rtmp": ["-f", "flv", "-listen", "1", url],
        "srt": ["-f", "mpegts", f"{url}?mode=listener&latency={options.latency * 1000}"],
        "udp": ["-f", "mpegts", f"{url}?pkt_size=1316"],
        "tcp": ["-f", "mpegts", f"{url}?listen=1"],
        "rtp": ["-f", "rtp_mpegts", f"{url}?pkt_size=1316"],
    }[options.to]


def feed(child, options):
    """Draws pictures into ffmpeg until it ends. Skips no number, because ffmpeg's timestamps count the pictures it
    gets."""
    width, height = (int(side) for side in options.size.split("x"))
    rate = float(fractions.Fraction(options.fps))
    schedule = timecode.Schedule(rate, skips=False)
    try:
        while child.poll() is None:
            number = schedule.wait()
            child.stdin.write(timecode.draw(width, height, number, time.monotonic_ns(), rate))
    except (BrokenPipeError, ValueError):
        pass


def listens(port):
    """Returns whether a UDP port is bound."""
    with open("/proc/net/udp") as table:
        return any(line.split()[1].endswith(f":{port:04X}") for line in table)


def start(options, port):
    command = ["ffmpeg", "-hide_banner", "-loglevel", "warning", "-y"]
    if options.file:
        command += ["-nostdin", "-re", *(["-stream_loop", "-1"] if options.loop else []), "-i", options.file,
                    "-map", "0:v:0", "-c", "copy"]
    else:
        command += ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", options.size,
                    "-framerate", options.fps, "-i", "pipe:0"]
        command += ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", str(options.gop),
                    "-threads", "1"]
    command += ["-flush_packets", "1", *output(options, url_of(options, port))]
    child = peer.spawn(command, stdin=subprocess.DEVNULL if options.file else subprocess.PIPE, stdout=2)
    if not options.file:
        threading.Thread(target=feed, args=(child, options), daemon=True).start()
    return child


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--to", choices=["rtmp", "srt", "udp", "tcp", "rtp"], required=True)
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one. udp: the receiver binds it")
    parser.add_argument("--file", help="a file to send unchanged, in real time, instead of live pictures")
    parser.add_argument("--loop", action="store_true", help="send the file repeatedly")
    parser.add_argument("--again", action="store_true", help="listen for the next client when one has left")
    parser.add_argument("--size", default="640x480", help="of live pictures")
    parser.add_argument("--fps", default="30", help="of live pictures")
    parser.add_argument("--gop", type=int, default=30, help="live frames from one key frame to the next")
    parser.add_argument("--latency", type=int, default=120, help="the latency of SRT, in milliseconds")
    options = parser.parse_args()
    is_udp = options.to in ("srt", "udp", "rtp")
    port = options.port or peer.free_port(socket.SOCK_DGRAM if is_udp else socket.SOCK_STREAM)
    child = start(options, port)
    if options.to in ("rtmp", "tcp"):
        is_ready = peer.wait_for_port(port, child)
    else:
        deadline = time.monotonic() + 10
        while options.to == "srt" and not listens(port) and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        is_ready = child.poll() is None
    if not is_ready:
        peer.fail("ffmpeg did not start; see standard error")
    peer.serve(options, {"kill": lambda _: child.kill()}, {"port": port, "url": url_of(options, port)})
    while True:
        child.wait()
        peer.say({"event": "ended", "status": child.returncode})
        if not options.again:
            break
        child = start(options, port)
        time.sleep(0.1)
    threading.Event().wait()


if __name__ == "__main__":
    main()
