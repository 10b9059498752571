#!/usr/bin/env python3
"""An aiortc peer with signaling by commands: `deliver` passes it a message, `poll` returns its messages.

Reads the frame numbers of `pattern:timecode`; with --sends it also sends them in the same media section, whenever the
negotiated directions allow it. See README.md.

A message is {"type": "offer" or "answer", "flow", "sdp"}, {"type": "candidate", "flow", "line"} or {"type": "bye"}.
Needs aiortc and numpy from PyPI.
"""
import asyncio
import logging
import queue
import struct

from aiortc import (RTCConfiguration, RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription, rtcdtlstransport,
                    rtcrtpreceiver, rtcrtpsender)
from aiortc.sdp import candidate_from_sdp

import drawn
import lossylink
import peer
import seen
import slices


class Decoders:
    """Records the decoders that aiortc creates, and the number of pictures from each."""

    def __init__(self):
        self.made, self.make = [], rtcrtpreceiver.get_decoder
        rtcrtpreceiver.get_decoder = self.noted

    def noted(self, codec):
        decoder, entry = self.make(codec), {"codec": codec.name, "count": 0}
        decode = decoder.decode
        self.made.append(entry)

        def counted(frame):
            pictures = decode(frame)
            entry["count"] += len(pictures)
            return pictures

        decoder.decode = counted
        return decoder


class Reports:
    """Records the SSRCs that the other side reports on (RFC 3550, 6.4), which are those that it receives."""

    def __init__(self):
        self.count, self.sources, self.route = 0, set(), rtcdtlstransport.RtpRouter.route_rtcp
        rtcdtlstransport.RtpRouter.route_rtcp = lambda router, packet: self.noted(router, packet)

    def noted(self, router, packet):
        if isinstance(packet, (rtcdtlstransport.RtcpRrPacket, rtcdtlstransport.RtcpSrPacket)) and packet.reports:
            self.count += 1
            self.sources |= {report.ssrc for report in packet.reports}
        return self.route(router, packet)


class Peer:
    def __init__(self, is_linked, codec, rejects, sends):
        self.codec, self.rejects, self.sends, self.drawn = codec, rejects, sends, None
        # With packet loss enabled, the link is the only path to the other side.
        self.is_linked, self.link, self.echoes = is_linked, None, True
        self.said, self.numbers, self.unread, self.flows = queue.Queue(), [], 0, 0
        self.connection, self.flow, self.early, self.byes, self.taken = None, None, {}, 0, set()
        self.messages, self.channels, self.made, self.limit = [], [], 0, None
        self.pictures, self.heard = seen.Pictures(), ""
        self.offers, self.answers, self.pending = 0, 0, None
        self.yields, self.yielded, self.kept, self.is_named = False, 0, 0, True

    def make(self):
        # The counters are for the current connection.
        self.numbers, self.made = [], self.made + 1
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connection.on("track", lambda track: asyncio.ensure_future(self.watch(track)))
        self.connection.on("datachannel", self.listen)

    def add_video(self):
        """Adds the only media section, as far as this side creates it."""
        if self.sends:
            self.drawn = drawn.Timecode(320, 240, 30)
            return self.connection.addTransceiver(self.drawn, direction="sendrecv")
        return self.connection.addTransceiver("video", direction="recvonly")

    def heed_direction(self):
        """Starts or stops sending as negotiated: aiortc itself never stops."""
        if self.drawn:
            transceiver = self.connection.getTransceivers()[0]
            sends = transceiver.currentDirection in ("sendrecv", "sendonly")
            transceiver.sender.replaceTrack(self.drawn if sends else None)

    def listen(self, channel):
        """Records the messages on a channel and sends them back."""

        self.channels.append({
            "label": channel.label, "ordered": channel.ordered, "maxRetransmits": channel.maxRetransmits,
            "maxPacketLifeTime": channel.maxPacketLifeTime})

        def heard(message):
            arrives = channel.ordered and channel.maxRetransmits is None and channel.maxPacketLifeTime is None
            body = message if isinstance(message, str) else message.hex() or "no bytes"
            data = message.encode() if isinstance(message, str) else message
            if len(data) > 65536:
                # A summary in words, because the other side doesn't accept such a long message.
                check = sum((index + 1) * byte for index, byte in enumerate(data)) % 2**32
                message = body = f"{type(message).__name__} {len(data)} {check}"
            self.messages.append({"channel": channel.label, "arrives": arrives, "body": body})
            if self.echoes:
                channel.send(message)

        channel.on("message", heard)

    def split(self, flow, kind):
        """Sends the candidates first, then the description without them."""
        lines = self.connection.localDescription.sdp.splitlines()
        for line in lines:
            if line.startswith("a=candidate:") and not self.is_linked:
                self.said.put({"type": "candidate", "flow": flow, "line": line[2:]})
        kept = [line for line in lines if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
        if kind == "answer" and self.rejects == "rejected" and "m=application " in self.heard:
            # A rejected section has the port 0 (RFC 3264, 6) and needs no other content.
            kept += ["m=application 0 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0"]
        if self.limit is not None:
            kept = [f"a=max-message-size:{self.limit}" if line.startswith("a=max-message-size:") else line
                    for line in kept]
        self.said.put({"type": kind, "flow": flow, "sdp": "\r\n".join(kept) + "\r\n"})

    async def offer(self):
        self.flows += 1
        self.flow = f"python-{self.flows}"
        self.make()
        self.add_video()
        orders = self.connection.createDataChannel("orders")
        self.listen(orders)
        orders.on("open", lambda: orders.send("hello"))
        await self.connection.setLocalDescription(await self.connection.createOffer())
        self.split(self.flow, "offer")

    @staticmethod
    def prefer(transceiver, codec):
        known = RTCRtpReceiver.getCapabilities("video").codecs
        transceiver.setCodecPreferences([each for each in known if each.mimeType == "video/" + codec])

    @staticmethod
    def without_channels(sdp):
        """Returns an offer without its last section, the one for data channels."""
        return sdp.partition("m=application ")[0]

    async def reoffer(self, message):
        """Offers another channel within the connection. If a codec is named, offers only that one; an empty name offers
        all again. The change is set with the answer, because a peer may yield before that and aiortc cannot roll back.
        """
        self.listen(self.connection.createDataChannel(message["channel"]))
        if "codec" in message:
            self.prefer(self.connection.getTransceivers()[0], message["codec"])
        self.yields = message.get("yields", False)
        await self.offer_further()

    async def direct(self, direction):
        """Offers another direction within the connection."""
        self.connection.getTransceivers()[0].direction = direction
        await self.offer_further()

    async def renew(self, is_named):
        """Continues with new SSRCs. A further offer names them or omits them."""
        sender = self.connection.getTransceivers()[0].sender
        sender._ssrc, sender._rtx_ssrc = rtcrtpsender.random32(), rtcrtpsender.random32()
        sender.transport._rtp_router.register_sender(sender, sender._ssrc)
        self.is_named = is_named
        await self.offer_further()

    async def stray(self, payload, count):
        """Sends packets of a payload type, three with each SSRC, so that they count for RTCP. If the count is 0, sends
        one packet with the SSRC of the pictures, instead of their next one."""
        sender = self.connection.getTransceivers()[0].sender
        last = max(sender._RTCRtpSender__rtp_history.values(), key=lambda packet: packet.timestamp)
        streams = [(sender._ssrc, (last.sequence_number + 1) % 65536)] if count == 0 else [
            (1000 + number // 3, number) for number in range(3 * count)]
        for source, number in streams:
            header = struct.pack("!BBHII", 0x80, payload, number, last.timestamp, source)
            await sender.transport._send_rtp(header + bytes(100))

    async def offer_further(self):
        self.flows += 1
        self.pending = (f"python-{self.flows}", await self.connection.createOffer())
        lines = self.pending[1].sdp.splitlines()
        kept = [line for line in lines if self.is_named or not line.startswith(("a=ssrc:", "a=ssrc-group:"))]
        self.said.put({"type": "offer", "flow": self.pending[0], "sdp": "\r\n".join(kept) + "\r\n"})

    def continues(self, sdp):
        """Returns whether an offer comes from the known engine."""
        known = self.connection and self.connection.remoteDescription
        # All engines of a process may share a certificate, so compare the ICE user fragment.
        line = next(each for each in sdp.splitlines() if each.startswith("a=ice-ufrag:"))
        return bool(known) and line in known.sdp

    async def take(self, message):
        kind, flow = message["type"], message.get("flow")
        if kind == "bye":
            self.byes += 1
        elif kind == "candidate":
            if flow == self.flow and self.connection and self.connection.remoteDescription:
                await self.add(message["line"])
            else:
                self.early.setdefault(flow, []).append(message["line"])
        elif (flow, kind) not in self.taken:
            # Ignores a repeated message.
            self.taken.add((flow, kind))
            self.heard = message["sdp"]
            if kind == "offer":
                self.offers += 1
                crosses, crossed = bool(self.pending) and self.continues(message["sdp"]), None
                if crosses and not self.yields:
                    # If two offers cross, this side keeps its own.
                    self.kept += 1
                    return
                if crosses:
                    self.yielded += 1
                    crossed, self.pending = self.pending, None
                if not self.continues(message["sdp"]):
                    if self.connection:
                        await self.connection.close()
                    self.make()
                    if self.codec:
                        self.prefer(self.add_video(), self.codec)
                    elif self.sends:
                        self.add_video()
                self.flow = flow
            elif self.pending and flow == self.pending[0]:
                self.answers += 1
                await self.connection.setLocalDescription(self.pending[1])
                self.pending = None
            sdp = self.without_channels(message["sdp"]) if self.rejects else message["sdp"]
            await self.connection.setRemoteDescription(RTCSessionDescription(sdp, kind))
            for line in self.early.pop(flow, []):
                await self.add(line)
            if kind == "offer":
                await self.connection.setLocalDescription(await self.connection.createAnswer())
                self.split(flow, "answer")
            self.heed_direction()
            if kind == "offer":
                if crossed:
                    await self.offer_further()

    async def add(self, line):
        # aioice doesn't support TCP candidates.
        if line and " TCP " not in line.upper():
            if self.is_linked:
                if self.link or ":" in line.split()[4]:
                    return
                self.link, line = await lossylink.before(line)
            candidate = candidate_from_sdp(line.split(":", 1)[1])
            candidate.sdpMid, candidate.sdpMLineIndex = None, 0
            await self.connection.addIceCandidate(candidate)

    async def watch(self, track):
        numbers = self.numbers
        try:
            while True:
                frame = await track.recv()
                number = self.pictures.add(frame)
                if number is None:
                    self.unread += 1
                else:
                    numbers.append(number)
        except Exception:
            pass


async def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--link", action="store_true", help="send packets over a link that can lose them")
    parser.add_argument("--sends", action="store_true", help="send pictures, too, in the same media section")
    parser.add_argument("--codec", help="the only codec in answers to offers")
    parser.add_argument("--no-channels", choices=["rejected", "missing"],
                        help="answer offers of data channels with a section that rejects them, or without one")
    parser.add_argument("--slices", help="an H.264 file whose slices are compared with the received ones")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    loop, decoders, reports = asyncio.get_running_loop(), Decoders(), Reports()
    one = Peer(options.link, options.codec, options.no_channels, options.sends)

    def run(work):
        asyncio.run_coroutine_threadsafe(work, loop).result(10)

    def poll(_):
        try:
            return {"message": one.said.get(timeout=0.02)}
        except queue.Empty:
            return {}

    def report(_):
        return {"connections": one.made, "count": len(one.numbers), "unread": one.unread, "byes": one.byes,
                "messages": one.messages, "channels": one.channels, "sessions": one.made, "sdp": one.heard,
                "yielded": one.yielded, "kept": one.kept, "offers": one.offers, "answers": one.answers,
                "reports": reports.count, "reported": len(reports.sources),
                "decoders": decoders.made, "drawn": one.drawn.number if one.drawn else 0, **one.pictures.report()}

    def limit(message):
        """Makes descriptions state this maximum message size."""
        one.limit = int(message["bytes"])

    def lose(message):
        """Makes the link lose this percentage of the data channel packets until this number is lost."""
        one.echoes = False
        loop.call_soon_threadsafe(one.link.lose, message["percent"], int(message["count"]))

    def heard(_):
        """Returns the leading number of each message, by channel, and the number of packets that the link lost."""
        numbers = {}
        for message in list(one.messages):
            numbers.setdefault(message["channel"], []).append(int(message["body"].split()[0]))
        return {"numbers": numbers, "lost": one.link.lost}

    found = {"slices": slices.Slices(options.slices).report} if options.slices else {}
    peer.serve(options, {
        "limit": limit, "lose": lose, "heard": heard,
        **found, "deliver": lambda message: run(one.take(message["message"])), "offer": lambda _: run(one.offer()),
        "reoffer": lambda message: run(one.reoffer(message)),
        "direct": lambda message: run(one.direct(message["direction"])),
        "renew": lambda message: run(one.renew(message["is_named"])),
        "stray": lambda message: run(one.stray(int(message["payload"]), int(message["count"]))),
        "poll": poll, "report": report,
    }, {})
    await asyncio.Event().wait()


asyncio.run(main())
