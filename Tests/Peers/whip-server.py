#!/usr/bin/env python3
"""A WHIP media server with aiortc that reads the frame numbers of `pattern:timecode`. See README.md.

It listens at two ports, as two sites: the first requires the token. Paths: /whip accepts offers, /here and /moved
redirect to it at the same and at the other site, /circle to itself; /busy answers 503 once; /page, /bare and /huge give
invalid answers. Messages over data channels are returned over the same channel; "close" closes it, and "leave" ends the
session. The server opens another channel, "server", and sends "welcome" over it; /pictures accepts the picture and
rejects data channels (RFC 3264, 6). Needs aiortc, aiohttp and numpy from PyPI.
"""
import asyncio
import logging
import ssl
import time

from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

import peer
import seen
import slices


class Server:
    def __init__(self, options):
        self.options = options
        self.requests, self.numbers, self.peers = [], [], {}
        self.unread, self.count, self.busy, self.size = 0, 0, 1, ""
        self.pictures, self.offer = seen.Pictures(), ""
        self.channels, self.heard = [], []

    async def start(self):
        self.loop = asyncio.get_running_loop()
        self.first = await self.listen(self.options.port, True)
        self.other = await self.listen(0, False)

    async def listen(self, port, is_first):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", lambda request: self.answer(request, is_first))
        runner = web.AppRunner(app)
        await runner.setup()
        context = None
        if is_first and self.options.tls:
            _, certificate, key = peer.make_certificates()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
        await web.TCPSite(runner, self.options.host, port, ssl_context=context).start()
        return runner.addresses[0][1]

    async def answer(self, request, is_first):
        shown = request.headers.get("authorization", "")
        self.requests.append(f"{request.method} {'first' if is_first else 'other'}{request.path_qs} {shown}".strip())
        if is_first and self.options.token and shown != f"Bearer {self.options.token}":
            return web.Response(status=401)
        if request.method == "OPTIONS":
            return web.Response(status=204, headers={"link": self.options.link} if self.options.link else {})
        if request.method == "DELETE":
            found = self.peers.pop(request.path.rsplit("/", 1)[-1], None)
            if found:
                await found.close()
            return web.Response(status=200 if found else 404)
        path = request.path
        if path == "/here":
            return web.Response(status=308, headers={"location": "/whip"})
        if path == "/moved":
            return web.Response(status=307, headers={"location": f"http://127.0.0.1:{self.other}/whip"})
        if path == "/circle":
            return web.Response(status=307, headers={"location": "/circle"})
        if path == "/page":
            return web.Response(status=201, text="<html>", content_type="text/html", headers={"location": "/x"})
        if path == "/bare":
            return web.Response(status=201, text="v=0", content_type="application/sdp")
        if path == "/huge":
            return web.Response(status=201, text="v" * 1_000_000, content_type="application/sdp",
                                headers={"location": "/x"})
        if path == "/busy" and self.busy:
            self.busy -= 1
            return web.Response(status=503, headers={"retry-after": "0"})
        is_offer = request.method == "POST" and request.content_type == "application/sdp"
        if path not in ("/whip", "/busy", "/pictures") or not is_offer:
            return web.Response(status=404)
        return await self.take(await request.text(), path != "/pictures")

    async def take(self, sdp, takes_channels):
        self.offer = sdp
        found = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        found.on("track", lambda track: asyncio.ensure_future(self.watch(track)))
        found.on("datachannel", lambda channel: self.take_channel(found, channel))
        await found.setRemoteDescription(RTCSessionDescription(sdp, "offer"))
        if found.sctp and takes_channels:
            self.open_channel(found)
        await found.setLocalDescription(await found.createAnswer())
        self.count += 1
        name = str(self.count)
        self.peers[name] = found
        answer = found.localDescription.sdp
        return web.Response(
            status=201, text=answer if takes_channels else without_channels(answer), content_type="application/sdp",
            headers={"location": f"/session/{name}"})

    def take_channel(self, found, channel):
        self.channels.append({
            "label": channel.label, "ordered": channel.ordered, "maxRetransmits": channel.maxRetransmits,
            "maxPacketLifeTime": channel.maxPacketLifeTime})

        @channel.on("message")
        def come(message):
            if message == "leave":
                asyncio.ensure_future(found.close())
            elif message == "close":
                channel.close()
            else:
                channel.send(message)

    def open_channel(self, found):
        channel = found.createDataChannel("server")
        channel.on("open", lambda: channel.send("welcome"))

        @channel.on("message")
        def come(message):
            self.heard.append(message if isinstance(message, str) else len(message))

    async def watch(self, track):
        try:
            while True:
                frame = await track.recv()
                number = self.pictures.add(frame)
                self.size = f"{frame.width}x{frame.height}"
                if number is None:
                    self.unread += 1
                else:
                    self.numbers.append(number)
        except Exception:
            pass

    def report(self, _):
        numbers = self.numbers
        return {"requests": self.requests, "count": len(numbers), "unread": self.unread, "size": self.size,
                "sessions": self.count, "open": len(self.peers), "sdp": self.offer,
                "channels": self.channels, "heard": self.heard, **self.pictures.report(),
                "rises": all(a < b for a, b in zip(numbers, numbers[1:])), "last": numbers[-1] if numbers else -1}

    def wait(self, message):
        """Waits until this number of further pictures was read, or until the timeout."""
        wanted, end = len(self.numbers) + message["count"], time.monotonic() + 25
        while len(self.numbers) < wanted and time.monotonic() < end:
            time.sleep(0.02)
        return self.report(message)

    def requested(self, message):
        """Waits until a request with this text has come."""
        end = time.monotonic() + 25
        while not any(message["text"] in each for each in self.requests) and time.monotonic() < end:
            time.sleep(0.02)
        return self.report(message)


def without_channels(sdp):
    """Returns the answer with its section of data channels rejected: the port 0, and no transport."""
    head, *sections = sdp.split("m=")
    kept = []
    for section in sections:
        if section.startswith("application "):
            line, rest = section.split("\r\n", 1)
            mid = next(each for each in rest.split("\r\n") if each.startswith("a=mid:"))
            words = line.split(" ")
            section = "\r\n".join([" ".join([words[0], "0", *words[2:]]), "c=IN IP4 0.0.0.0", mid, ""])
            head = "\r\n".join(
                " ".join(word for word in each.split(" ") if word != mid[len("a=mid:"):])
                if each.startswith("a=group:BUNDLE") else each for each in head.split("\r\n"))
        kept.append(section)
    return "m=".join([head, *kept])


async def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--port", type=int, default=0, help="the port of the first site; 0 selects a free one")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at")
    parser.add_argument("--token", help="the token that the first site requires")
    parser.add_argument("--link", help="a Link header, to OPTIONS")
    parser.add_argument("--tls", action="store_true",
                        help="use HTTPS at the first site, with a certificate from a new authority")
    parser.add_argument("--slices", help="an H.264 file whose slices are compared with the received ones")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    server = Server(options)
    await server.start()
    handlers = {"report": server.report, "wait": server.wait, "requested": server.requested}
    if options.slices:
        handlers["slices"] = slices.Slices(options.slices).report
    peer.serve(options, handlers, {"port": server.first, "other": server.other})
    await asyncio.Event().wait()


asyncio.run(main())
