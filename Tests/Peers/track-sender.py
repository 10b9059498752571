#!/usr/bin/env python3
"""Sends the pictures of `pattern:timecode` over WebRTC with aiortc: as a WHEP server, or as a publisher to a WHIP
server. See README.md.

As a server it prints its port; paths: /whep takes offers, /busy answers 503. As a publisher it posts its offer to an
address. Needs aiortc, aiohttp and numpy from PyPI.
"""
import asyncio
import logging

import aiohttp
from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription

import drawn
import peer


class Sender:
    def __init__(self, options):
        self.options = options
        self.requests, self.peers, self.tracks, self.count, self.states = [], {}, [], 0, []
        # The events of the publisher's data channels, in order: `[LABEL, EVENT]`. For a message it is the text or the
        # length.
        self.channels, self.told = {}, []

    def connection(self):
        made = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        width, height = map(int, self.options.size.split("x"))
        self.tracks.append(drawn.Timecode(width, height, self.options.fps))
        made.on("connectionstatechange", lambda: self.states.append(made.connectionState))
        return made

    def prefer(self, transceiver):
        wanted = f"video/{self.options.codec}".lower()
        codecs = RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([each for each in codecs if each.mimeType.lower() == wanted])

    # A WHEP server.

    async def listen(self):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, self.options.host, self.options.port).start()
        return runner.addresses[0][1]

    async def answer(self, request):
        shown = request.headers.get("authorization", "")
        self.requests.append(f"{request.method} {request.path_qs} {shown}".strip())
        if self.options.token and shown != f"Bearer {self.options.token}":
            return web.Response(status=401)
        if request.method == "DELETE":
            found = self.peers.pop(request.path.rsplit("/", 1)[-1], None)
            if found:
                await found.close()
            return web.Response(status=200 if found else 404)
        if request.path == "/busy":
            return web.Response(status=503, headers={"retry-after": "1"})
        if request.path != "/whep" or request.method != "POST" or request.content_type != "application/sdp":
            return web.Response(status=404)
        made = self.connection()
        made.addTrack(self.tracks[-1])
        await made.setRemoteDescription(RTCSessionDescription(await request.text(), "offer"))
        self.prefer(made.getTransceivers()[0])
        await made.setLocalDescription(await made.createAnswer())
        self.count += 1
        name = str(self.count)
        self.peers[name] = made
        return web.Response(
            status=201, text=made.localDescription.sdp, content_type="application/sdp",
            headers={"location": f"/session/{name}"})

    # A WHIP publisher.

    async def publish(self, url):
        made = self.connection()
        self.prefer(made.addTransceiver(self.tracks[-1], "sendonly"))
        if self.options.audio:
            made.addTransceiver("audio", "sendonly")
        for label in self.options.channel:
            self.open_channel(made, label)
        await made.setLocalDescription(await made.createOffer())
        headers = {"content-type": "application/sdp"}
        if self.options.token:
            headers["authorization"] = f"Bearer {self.options.token}"
        async with aiohttp.ClientSession() as session:
            async with session.post(url, data=made.localDescription.sdp, headers=headers) as answer:
                text = await answer.text()
                self.requests.append(f"{answer.status} {text if answer.status != 201 else ''}".strip())
                if answer.status == 201:
                    self.answer_text = text
                    self.peers[url.split("/")[2] + answer.headers["location"]] = made
                    await made.setRemoteDescription(RTCSessionDescription(text, "answer"))
        return answer.status

    def open_channel(self, made, label):
        lossy = {"ordered": False, "maxRetransmits": 0} if label == "lossy" else {}
        channel = self.channels[label] = made.createDataChannel(label, **lossy)
        for event in ("open", "close"):
            channel.on(event, lambda event=event: self.told.append([label, event]))
        channel.on("message", lambda body: self.told.append([label, body if isinstance(body, str) else len(body)]))

    async def open_later(self, label):
        self.open_channel(list(self.peers.values())[-1], label)

    async def say(self, label, body, is_forced):
        """Sends a text or this number of bytes. If forced, ignores the maximum size in the answer."""
        if is_forced:
            self.channels[label].transport._remote_max_message_size = 0
        self.channels[label].send(body if isinstance(body, str) else bytes(int(body)))

    async def leave(self):
        """Ends the session as defined by WHIP."""
        headers = {"authorization": f"Bearer {self.options.token}"} if self.options.token else {}
        async with aiohttp.ClientSession() as session:
            for place, made in list(self.peers.items()):
                async with session.delete(f"http://{place}", headers=headers) as answer:
                    self.requests.append(f"DELETE {answer.status}")
                await made.close()
        self.peers.clear()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def report(self, _):
        return {"requests": self.requests, "sessions": self.count, "open": len(self.peers), "states": self.states,
                "told": self.told,
                "drawn": sum(track.number for track in self.tracks)}

    def pause(self, message):
        for track in self.tracks:
            track.is_paused = message["isPaused"]


async def main():
    parser = peer.parser(__doc__)
    parser.add_argument("role", choices=["serve", "publish"])
    parser.add_argument("--port", type=int, default=0, help="the port of the server; 0 selects a free one")
    parser.add_argument("--host", default="127.0.0.1", help="the address that the server listens at")
    parser.add_argument("--token", help="the token that the server requires or the publisher presents")
    parser.add_argument("--codec", default="H264", choices=["H264", "VP8"])
    parser.add_argument("--size", default="640x480")
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--audio", action="store_true", help="also offer sound, after the picture")
    parser.add_argument("--channel", action="append", default=[],
                        help="the label of a data channel that the publisher opens; 'lossy' retransmits nothing")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    sender = Sender(options)
    sender.loop = asyncio.get_running_loop()
    port = await sender.listen() if options.role == "serve" else 0
    peer.serve(
        options,
        {"report": sender.report, "pause": sender.pause,
         "publish": lambda message: {"status": sender.run(sender.publish(message["url"]))},
         "open": lambda message: sender.run(sender.open_later(message["label"])),
         "say": lambda message: sender.run(sender.say(
             message["label"], message["body"], message.get("isForced", False))),
         "leave": lambda _: sender.run(sender.leave())},
        {"port": port})
    await asyncio.Event().wait()


asyncio.run(main())
