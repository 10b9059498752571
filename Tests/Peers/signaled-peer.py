#!/usr/bin/env python3
"""One peer of aiortc's whose signaling is commands: `deliver` hands it a message, `poll` takes what it says.

Reads the frame numbers of `pattern:timecode`. See README.md.

A message is {"type": "offer" or "answer", "flow", "sdp"}, {"type": "candidate", "flow", "line"} or {"type": "bye"}.
Needs aiortc and numpy from PyPI.
"""
import asyncio
import logging
import queue

import numpy
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.sdp import candidate_from_sdp

import peer
import timecode


class Peer:
    def __init__(self):
        self.said, self.numbers, self.unread, self.flows = queue.Queue(), [], 0, 0
        self.connection, self.flow, self.early, self.byes, self.taken = None, None, {}, 0, set()
        self.messages, self.made = [], 0

    def make(self):
        # What is counted is of the present connection.
        self.numbers, self.made = [], self.made + 1
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connection.on("track", lambda track: asyncio.ensure_future(self.watch(track)))
        self.connection.on("datachannel", self.listen)

    def listen(self, channel):
        """Notes what comes over a channel, and says it back."""

        def heard(message):
            arrives = channel.ordered and channel.maxRetransmits is None and channel.maxPacketLifeTime is None
            body = message if isinstance(message, str) else message.hex()
            self.messages.append({"channel": channel.label, "arrives": arrives, "body": body})
            channel.send(message)

        channel.on("message", heard)

    def split(self, flow, kind):
        """Says the candidates first, then the description without them."""
        lines = self.connection.localDescription.sdp.splitlines()
        for line in lines:
            if line.startswith("a=candidate:"):
                self.said.put({"type": "candidate", "flow": flow, "line": line[2:]})
        kept = [line for line in lines if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
        self.said.put({"type": kind, "flow": flow, "sdp": "\r\n".join(kept) + "\r\n"})

    async def offer(self):
        self.flows += 1
        self.flow = f"python-{self.flows}"
        self.make()
        self.connection.addTransceiver("video", direction="recvonly")
        orders = self.connection.createDataChannel("orders")
        self.listen(orders)
        orders.on("open", lambda: orders.send("hello"))
        await self.connection.setLocalDescription(await self.connection.createOffer())
        self.split(self.flow, "offer")

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
            # What comes twice is taken once.
            self.taken.add((flow, kind))
            if kind == "offer":
                if self.connection:
                    await self.connection.close()
                self.make()
                self.flow = flow
            await self.connection.setRemoteDescription(RTCSessionDescription(message["sdp"], kind))
            for line in self.early.pop(flow, []):
                await self.add(line)
            if kind == "offer":
                await self.connection.setLocalDescription(await self.connection.createAnswer())
                self.split(flow, "answer")

    async def add(self, line):
        # aioice knows no candidates of TCP.
        if line and " TCP " not in line.upper():
            candidate = candidate_from_sdp(line.split(":", 1)[1])
            candidate.sdpMid, candidate.sdpMLineIndex = None, 0
            await self.connection.addIceCandidate(candidate)

    async def watch(self, track):
        numbers = self.numbers
        try:
            while True:
                frame = await track.recv()
                plane = frame.planes[0]
                rows = numpy.frombuffer(plane, numpy.uint8).reshape(plane.height, plane.line_size)
                found = timecode.read(rows[:, : plane.width].tobytes(), frame.width, frame.height)
                if found is None:
                    self.unread += 1
                else:
                    numbers.append(found[0])
        except Exception:
            pass


async def main():
    options = peer.parser(__doc__).parse_args()
    logging.basicConfig(level=logging.ERROR)
    loop, one = asyncio.get_running_loop(), Peer()

    def run(work):
        asyncio.run_coroutine_threadsafe(work, loop).result(10)

    def poll(_):
        try:
            return {"message": one.said.get(timeout=0.02)}
        except queue.Empty:
            return {}

    def report(_):
        return {"connections": one.made, "count": len(one.numbers), "unread": one.unread, "byes": one.byes,
                "messages": one.messages}

    peer.serve(options, {
        "deliver": lambda message: run(one.take(message["message"])), "offer": lambda _: run(one.offer()),
        "poll": poll, "report": report,
    }, {})
    await asyncio.Event().wait()


asyncio.run(main())
