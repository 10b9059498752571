#!/usr/bin/python3
"""ffmpeg as a media server that receives one stream by RTMP, SRT, RTSP or UDP, decodes it, and counts its pictures; or
forwards it without decoding, in an MPEG transport stream over UDP.

See README.md.
"""

import socket

import peer
from receiver import Receiver


def input_of(kind, port):
    return {
        "rtmp": ["-listen", "1", "-i", f"rtmp://127.0.0.1:{port}/live/key"],
        "srt": ["-f", "mpegts", "-i", f"srt://127.0.0.1:{port}?mode=listener"],
        "rtsp": ["-rtsp_flags", "listen", "-i", f"rtsp://127.0.0.1:{port}/live"],
        "udp": ["-f", "mpegts", "-i", f"udp://127.0.0.1:{port}"],
    }[kind]


def picture(line):
    """Parses a line of framemd5: stream, DTS, PTS, duration, size, MD5."""
    if line.startswith("#"):
        return None
    fields = [field.strip() for field in line.split(",")]
    return [int(fields[2]), fields[5]]


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--kind", choices=["rtmp", "srt", "rtsp", "udp"], required=True)
    parser.add_argument("--forward", help="udp: address to forward the stream to; then no pictures are counted")
    options = parser.parse_args()
    kind = options.kind
    is_stream = kind in ("rtmp", "rtsp")
    port = peer.free_port(socket.SOCK_STREAM if is_stream else socket.SOCK_DGRAM)
    command = ["ffmpeg", "-hide_banner", "-loglevel", "error"]
    if options.forward:
        command += [
            "-fflags", "nobuffer", *input_of(kind, port), "-map", "0:v:0", "-c", "copy", "-muxdelay", "0",
            "-muxpreload", "0", "-flush_packets", "1", "-f", "mpegts", options.forward + "?pkt_size=1316",
        ]
    else:
        # PTS as received, in ticks of the stream's time base.
        command += [
            "-probesize", "32768", "-analyzeduration", "200000", "-copyts", *input_of(kind, port), "-map", "0:v:0",
            "-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "framemd5", "-flush_packets", "1", "pipe:1",
        ]
    path = {"rtmp": "/live/key", "rtsp": "/live"}.get(kind, "")
    receiver = Receiver(command, port, "tcp" if is_stream else "udp", picture)
    receiver.serve(options, {"url": f"{kind}://127.0.0.1:{port}{path}"})


if __name__ == "__main__":
    main()
