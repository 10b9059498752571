#!/usr/bin/python3
"""An RTSP server to which ffmpeg publishes a file, and which forwards the same RTP packets. See README.md."""

import asyncio
import re
import socket
import subprocess

import peer


class Recording:
    """The published stream of ffmpeg: its description, and its packets in order."""

    def __init__(self):
        self.description = ""
        # Lists of the packets of a picture, each with a flag for RTCP.
        self.pictures = []
        self.stamp = None
        self.is_over = asyncio.Event()

    def add(self, is_control, packet):
        stamp = self.stamp if is_control else packet[4:8]
        if stamp != self.stamp or not self.pictures:
            self.pictures.append([])
            self.stamp = stamp
        self.pictures[-1].append((is_control, packet))


class Relay:
    def __init__(self, options):
        self.options = options
        self.recording = Recording()
        self.requests = {}

    async def run(self):
        options = self.options
        server = await asyncio.start_server(self.serve, "127.0.0.1", options.port, limit=1 << 20)
        port = server.sockets[0].getsockname()[1]
        url = f"rtsp://127.0.0.1:{port}/stream"
        # RTP for VP9 is experimental in FFmpeg.
        ffmpeg = peer.spawn(
            ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-i", options.file, "-map", "0:v:0", "-c",
             "copy", "-strict", "experimental", "-f", "rtsp", "-rtsp_transport", "tcp", url],
            stdin=subprocess.DEVNULL, stdout=2)
        try:
            await asyncio.wait_for(self.recording.is_over.wait(), options.limit)
        except asyncio.TimeoutError:
            peer.fail(f"ffmpeg has published {len(self.recording.pictures)} pictures in {options.limit} s")
        peer.stop_child(ffmpeg, 5)
        if not self.recording.pictures:
            peer.fail("ffmpeg published nothing; see standard error")
        peer.serve(options, {"report": lambda _: {"requests": self.requests}},
                   {"port": port, "url": url, "pictures": len(self.recording.pictures)})
        await asyncio.Event().wait()

    async def serve(self, reader, writer):
        session = {"sending": None, "ports": None, "sockets": None, "publishes": False, "over": False}
        try:
            while True:
                first = await reader.readexactly(1)
                if first == b"$":
                    head = await reader.readexactly(3)
                    packet = await reader.readexactly(int.from_bytes(head[1:], "big"))
                    if session["publishes"]:
                        self.recording.add(bool(head[0] & 1), packet)
                    continue
                lines = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                size = re.search(r"(?i)Content-Length: *(\d+)", lines)
                body = await reader.readexactly(int(size[1])) if size else b""
                if not await self.answer(writer, session, lines, body.decode("latin-1")):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            if session["publishes"]:
                self.recording.is_over.set()
            if session["sending"]:
                session["sending"].cancel()
            for each in session["sockets"] or ():
                each.close()
            writer.close()

    async def answer(self, writer, session, lines, body):
        method = lines.split()[0]
        status, headers, text = "200 OK", ["Session: 1;timeout=60"], ""
        self.requests[method] = self.requests.get(method, 0) + 1
        if method == "OPTIONS":
            headers.append("Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER")
        elif method == "ANNOUNCE":
            self.recording.description = body
            session["publishes"] = True
        elif method == "DESCRIBE":
            text = self.recording.description
            headers += ["Content-Type: application/sdp", f"Content-Length: {len(text)}"]
        elif method == "SETUP":
            headers.append("Transport: " + self.set_up(session, re.search(r"(?i)Transport: *(.*)", lines)[1].strip()))
        elif method not in ("RECORD", "PLAY", "TEARDOWN", "GET_PARAMETER"):
            status = "501 Not Implemented"
        sequence = re.search(r"(?i)CSeq: *(\d+)", lines)[1]
        if not session["over"]:
            writer.write("\r\n".join([f"RTSP/1.0 {status}", f"CSeq: {sequence}", *headers, "", text]).encode("latin-1"))
            await writer.drain()
        if method == "PLAY":
            session["sending"] = asyncio.ensure_future(self.send(writer, session))
        return method != "TEARDOWN"

    @staticmethod
    def set_up(session, transport):
        asked = re.search(r"client_port=(\d+)-(\d+)", transport)
        if not asked:
            return transport
        session["ports"] = [int(asked[1]), int(asked[2])]
        # The reply states the ports, so they need not be adjacent.
        session["sockets"] = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for each in session["sockets"]:
            each.bind(("127.0.0.1", 0))
        own = "-".join(str(each.getsockname()[1]) for each in session["sockets"])
        return f"RTP/AVP;unicast;client_port={asked[1]}-{asked[2]};server_port={own}"

    async def send(self, writer, session):
        start = asyncio.get_running_loop().time()
        for index, picture in enumerate(self.recording.pictures):
            due = start + index / self.options.fps
            await asyncio.sleep(max(0, due - asyncio.get_running_loop().time()))
            for is_control, packet in picture:
                if session["sockets"]:
                    session["sockets"][is_control].sendto(packet, ("127.0.0.1", session["ports"][is_control]))
                else:
                    writer.write(b"$" + bytes([is_control]) + len(packet).to_bytes(2, "big") + packet)
            await writer.drain()
        # As if the publisher had ended. The connection still reads the reader's requests: otherwise the reader's system
        # would discard data that it hasn't read yet.
        session["over"] = True
        writer.write_eof()


if __name__ == "__main__":
    parser = peer.parser(__doc__)
    parser.add_argument("--file", required=True, help="the file that ffmpeg publishes without encoding it")
    parser.add_argument("--fps", type=float, default=100, help="pictures a second for readers")
    parser.add_argument("--limit", type=float, default=15, help="the time limit of ffmpeg in seconds")
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    asyncio.run(Relay(parser.parse_args()).run())
