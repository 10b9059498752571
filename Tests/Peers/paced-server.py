#!/usr/bin/python3 -B
"""An RTSP server of one H.264 file (Annex B, one or several slices per picture, no B pictures) for any number of
clients, over TCP in the RTSP connection.

Each client receives the file repeatedly from its beginning, at --rate pictures a second by this program's clock,
regardless of how fast the client reads: data that does not fit into the socket's buffer waits, and counts as sent when
the kernel has accepted it. RTP-Info gives the first picture the stream's time 0, so that a picture's time is its
number. At the end, or on SIGTERM, prints one line per picture: stream, number, CLOCK_MONOTONIC nanoseconds before it
was sent.

Sockets have the system's defaults, including Nagle's algorithm, unless --no-delay is given. A picture is written at
once, or with --separate as each packet's header and payload, like simple servers do.

Example: paced-server.py clip.h264 --port 8554, then rtsp://127.0.0.1:8554/0 and so on.
"""

import argparse
import base64
import re
import signal
import socket
import struct
import sys
import threading
import time

PAYLOAD = 1400
# libavformat treats an RTP time of 0 as missing.
ORIGIN = 900000


def units(data):
    """Returns the NAL units of an Annex B stream."""
    places = [match.start() for match in re.finditer(b"\x00\x00\x01", data)]
    for place, end in zip(places, places[1:] + [len(data)]):
        yield data[place + 3 : end].rstrip(b"\x00")


def pictures(data):
    """Returns lists of NAL units, one per picture, and the parameter sets."""
    found, sets, current, has_slice = [], {}, [], False
    for unit in units(data):
        kind = unit[0] & 31
        if kind in (7, 8):
            sets[kind] = unit
        # first_mb_in_slice is 0 if its Exp-Golomb code begins with a 1.
        begins = kind in (1, 5) and unit[1] & 0x80
        if has_slice and (begins or kind in (6, 7, 8, 9)):
            found.append(current)
            current, has_slice = [], False
        current.append(unit)
        has_slice = has_slice or kind in (1, 5)
    return found + [current], sets


def packets(picture):
    """Returns the RTP payloads of a picture (RFC 6184, single units and FU-A)."""
    for unit in picture:
        if len(unit) <= PAYLOAD:
            yield unit
            continue
        body = memoryview(unit)[1:]
        for place in range(0, len(body), PAYLOAD):
            part = body[place : place + PAYLOAD]
            flags = (0x80 if place == 0 else 0) | (0x40 if place + PAYLOAD >= len(body) else 0)
            yield bytes([unit[0] & 0xE0 | 28, flags | unit[0] & 31]) + part


class Client(threading.Thread):
    def __init__(self, connection, clip):
        super().__init__(daemon=True)
        self.connection, self.clip, self.stream, self.sent = connection, clip, "?", []

    def run(self):
        try:
            self.serve()
        except OSError:
            pass

    def serve(self):
        reader = self.connection.makefile("rb")
        while True:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = reader.readline()
                if not line:
                    return
                head += line
            text = head.decode()
            method, address = text.split()[:2]
            sequence = re.search(r"(?i)cseq: *(\d+)", text)[1]
            extra, body = "", ""
            if method == "DESCRIBE":
                body = self.clip.sdp
                extra = "Content-Type: application/sdp\r\n"
            elif method == "SETUP":
                if "interleaved" not in text:
                    self.reply(sequence, "461 Unsupported Transport", "", "")
                    continue
                extra = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n"
                self.stream = address.split("/")[3]
            elif method == "PLAY":
                extra = ("Session: 1\r\nRange: npt=0-\r\n"
                         f"RTP-Info: url={address.rstrip('/')}/track;seq=0;rtptime={ORIGIN}\r\n")
            elif method == "OPTIONS":
                extra = "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
            self.reply(sequence, "200 OK", extra, body)
            if method == "PLAY":
                return self.play()

    def reply(self, sequence, status, extra, body):
        head = f"RTSP/1.0 {status}\r\nCSeq: {sequence}\r\n{extra}"
        if body:
            head += f"Content-Length: {len(body)}\r\n"
        self.connection.sendall((head + "\r\n" + body).encode())

    def delay(self):
        """Returns the time from PLAY to the first picture.

        Real cameras are not synchronized: the streams' key frames are spread over the key frame interval by the golden
        ratio. With --in-step all key frames come at the same moment.
        """
        if self.clip.in_step:
            return -time.monotonic() % self.clip.group
        return int(self.stream) * 0.618034 % 1 * self.clip.spread if self.stream.isdigit() else 0

    def play(self):
        clip, number, sequence, begin = self.clip, 0, 0, time.monotonic() + self.delay()
        while True:
            wait = begin + number / clip.rate - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            parts, payloads = [], clip.payloads[number % len(clip.payloads)]
            stamp = ORIGIN + number * 90000 // clip.rate & 0xFFFFFFFF
            for index, payload in enumerate(payloads):
                marker = 0x80 if index == len(payloads) - 1 else 0
                parts.append(struct.pack(
                    ">BBHBBHII", 36, 0, len(payload) + 12, 0x80, marker | 96, sequence & 0xFFFF, stamp, 1))
                parts.append(payload)
                sequence += 1
            self.sent.append(time.monotonic_ns())
            for part in parts if clip.separate else [b"".join(parts)]:
                self.connection.sendall(part)
            number += 1


class Clip:
    def __init__(self, options):
        self.rate, self.spread, self.in_step = options.rate, options.spread, options.in_step
        self.separate = options.separate
        with open(options.clip, "rb") as file:
            found, sets = pictures(file.read())
        keys = [index for index, picture in enumerate(found) if any(unit[0] & 31 == 5 for unit in picture)]
        # Seconds between key frames.
        self.group = (keys[1] if len(keys) > 1 else len(found)) / self.rate
        self.payloads = [list(packets(picture)) for picture in found]
        encoded = ",".join(base64.b64encode(sets[kind]).decode() for kind in (7, 8))
        self.sdp = (
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=clip\r\nt=0 0\r\na=control:*\r\n"
            "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
            f"a=fmtp:96 packetization-mode=1;sprop-parameter-sets={encoded}\r\n"
            f"a=framerate:{self.rate}\r\na=control:track\r\n"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clip")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--rate", type=int, default=30)
    parser.add_argument("--spread", type=float, default=0, help="seconds over which the streams' beginnings are spread")
    parser.add_argument("--in-step", action="store_true", help="all streams have their key frames at the same moment")
    parser.add_argument("--no-delay", action="store_true", help="turn off Nagle's algorithm")
    parser.add_argument("--separate", action="store_true", help="write a packet's header and payload separately")
    options = parser.parse_args()
    clip, clients = Clip(options), []
    server = socket.create_server(("127.0.0.1", options.port), backlog=64)
    print(server.getsockname()[1], flush=True)

    def end(*_):
        for client in list(clients):
            for number, sent in enumerate(client.sent):
                sys.stdout.write(f"{client.stream} {number} {sent}\n")
        sys.stdout.flush()
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    while True:
        connection, _ = server.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(options.no_delay))
        clients.append(Client(connection, clip))
        clients[-1].start()


main()
