#!/usr/bin/python3
"""An RTSP server that sends a raw H.264 or H.265 file over TCP, with unusual RTP. See README.md."""

import asyncio
import re
import struct

import peer

KINDS = {
    "plain": "nothing odd",
    "gap": "leaves an RTP packet out of each fifth picture, as a server does whose connection is too slow",
    "death": "closes the connection in the middle of the last picture",
    "report": "a second video stream, and sender reports in mid-picture, by a clock that drifts",
    "prefix": "an SVC prefix before each slice; H.264 only",
}
RATE = 25
TICKS = 90_000 // RATE
SOURCE = 0x1234
TIME_OF_DAY = 3_900_000_000 << 32


class File:
    """The pictures of a raw file, each as a list of its NAL units."""

    def __init__(self, path, codec):
        self.codec = codec
        self.header = 2 if codec == "h265" else 1
        with open(path, "rb") as file:
            data = file.read()
        starts = [found.end() for found in re.finditer(b"\0\0\1", data)] + [len(data) + 3]
        units = [data[start:end - 3].rstrip(b"\0") for start, end in zip(starts, starts[1:])]
        self.pictures, has_slice = [[]], False
        for unit in units:
            begins = not self.is_slice(unit) or unit[self.header] & 0x80
            if has_slice and begins:
                self.pictures.append([])
                has_slice = False
            self.pictures[-1].append(unit)
            has_slice = has_slice or self.is_slice(unit)

    def is_slice(self, unit):
        return (unit[0] >> 1 & 0x3F) < 32 if self.codec == "h265" else unit[0] & 31 in (1, 5)

    def payloads(self, unit, size):
        """Returns payloads by RFC 6184 or RFC 7798: the unit itself or its fragments."""
        if len(unit) <= size:
            return [unit]
        parts = [unit[at:at + size] for at in range(self.header, len(unit), size)]
        fragments = []
        for index, part in enumerate(parts):
            flags = (0x80 if index == 0 else 0) | (0x40 if index == len(parts) - 1 else 0)
            if self.codec == "h264":
                head = [unit[0] & 0xE0 | 28, flags | unit[0] & 31]
            else:
                head = [unit[0] & 0x81 | 49 << 1, unit[1], flags | unit[0] >> 1 & 0x3F]
            fragments.append(bytes(head) + part)
        return fragments


class Server:
    def __init__(self, options):
        self.options = options
        self.file = File(options.file, options.codec)

    async def run(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.options.port)
        port = server.sockets[0].getsockname()[1]
        peer.serve(self.options, {}, {"port": port, "url": f"rtsp://127.0.0.1:{port}/stream"})
        await asyncio.Event().wait()

    def description(self):
        lines = ["v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=payload", "c=IN IP4 0.0.0.0", "t=0 0", "a=control:*"]
        for number in range(2 if self.options.kind == "report" else 1):
            lines += ["m=video 0 RTP/AVP 96", f"a=rtpmap:96 {self.options.codec.upper()}/90000",
                      f"a=control:track{number}"]
        return "\r\n".join(lines) + "\r\n"

    async def serve(self, reader, writer):
        sending = None
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, sequence = head.split()[0], re.search(r"CSeq: *(\d+)", head)[1]
                headers, body = ["Session: 1;timeout=60"], ""
                if method == "OPTIONS":
                    headers.append("Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN")
                elif method == "DESCRIBE":
                    body = self.description()
                    headers += ["Content-Type: application/sdp", f"Content-Length: {len(body)}"]
                elif method == "SETUP":
                    headers.append(re.search(r"Transport:.*", head)[0].strip())
                writer.write("\r\n".join([f"RTSP/1.0 200 OK", f"CSeq: {sequence}", *headers, "", body]).encode())
                if method == "PLAY":
                    sending = asyncio.ensure_future(self.send(writer))
                if method == "TEARDOWN":
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            if sending:
                sending.cancel()
            writer.close()

    async def send(self, writer):
        kind, number = self.options.kind, 100
        for index, picture in enumerate(self.file.pictures):
            payloads = []
            for unit in picture:
                if kind == "prefix" and self.file.is_slice(unit):
                    payloads.append(bytes([unit[0] & 0x60 | 14, 0x80, 0, 7]))
                payloads += self.file.payloads(unit, self.options.mtu)
            middle, last = len(payloads) // 2, len(payloads) - 1
            if kind == "death" and index == len(self.file.pictures) - 1:
                payloads = payloads[:middle]
            for place, payload in enumerate(payloads):
                number += 1
                if kind == "gap" and index % 5 == 3 and place == middle and len(payloads) > 3:
                    continue
                is_last = place == last
                head = struct.pack(">BBHII", 0x80, 96 | is_last << 7, number & 0xFFFF, 1000 + index * TICKS, SOURCE)
                writer.write(self.interleaved(0, head + payload))
                if kind == "report" and index % 3 == 1 and place == middle:
                    time = TIME_OF_DAY + int(index / RATE * 1.0005 * 2**32)
                    writer.write(self.interleaved(
                        1, struct.pack(">BBHIQIII", 0x80, 200, 6, SOURCE, time, 1000 + index * TICKS, 1, 1)))
            await writer.drain()
            await asyncio.sleep(1 / RATE)
        writer.write_eof()

    @staticmethod
    def interleaved(channel, packet):
        return b"$" + struct.pack(">BH", channel, len(packet)) + packet


if __name__ == "__main__":
    parser = peer.parser(__doc__)
    parser.add_argument("--file", required=True, help="raw H.264 or H.265 (Annex B)")
    parser.add_argument("--codec", choices=["h264", "h265"], required=True)
    parser.add_argument("--kind", choices=sorted(KINDS), default="plain",
                        help="; ".join(f"{name}: {what}" for name, what in KINDS.items()))
    parser.add_argument("--mtu", type=int, default=500, help="the bytes of a payload without its header")
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    asyncio.run(Server(parser.parse_args()).run())
