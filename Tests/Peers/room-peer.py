#!/usr/bin/env python3
"""Guests of a signaling room, with aiortc, each in a separate process that can be killed. They answer offers and read
the frame numbers of `pattern:timecode`, or offer that pattern themselves. See README.md.

Needs aiohttp, aiortc and numpy from PyPI.
"""
import asyncio
import json
import os
import signal
import time

import aiohttp
import numpy
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription, VideoStreamTrack
from aiortc.sdp import candidate_from_sdp
from av import VideoFrame

import guests
import peer
import timecode


class Pattern(VideoStreamTrack):
    """The pictures of `pattern:timecode`."""

    def __init__(self):
        super().__init__()
        self.number = 0

    async def recv(self):
        pts, base = await self.next_timestamp()
        picture = timecode.draw(640, 480, self.number, time.monotonic_ns())
        frame = VideoFrame.from_ndarray(numpy.frombuffer(picture, numpy.uint8).reshape(720, 640), format="yuv420p")
        frame.pts, frame.time_base = pts, base
        self.number += 1
        return frame


class Guest:
    def __init__(self, shared):
        self.shared, self.figures = shared, [0, 0, 0, 0]
        self.connection, self.flow, self.early, self.taken = None, None, {}, set()

    def note(self):
        guests.write(self.shared, self.figures)

    async def make(self):
        if self.connection:
            await self.connection.close()
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connection.on("track", lambda track: asyncio.ensure_future(self.watch(track)))
        self.figures[0:2] = 0, 0
        self.figures[3] += 1
        self.note()

    async def watch(self, track):
        last = -1
        try:
            while True:
                frame = await track.recv()
                plane = frame.planes[0]
                rows = numpy.frombuffer(plane, numpy.uint8).reshape(plane.height, plane.line_size)
                found = timecode.read(rows[:, : plane.width].tobytes(), frame.width, frame.height)
                if found is None:
                    self.figures[1] += 1
                else:
                    self.figures[0] += 1
                    self.figures[2] += 1 if found[0] <= last else 0
                    last = found[0]
                self.note()
        except Exception:
            pass

    async def add(self, line):
        # aioice doesn't support TCP candidates.
        if line and " TCP " not in line.upper():
            candidate = candidate_from_sdp(line.split(":", 1)[1])
            candidate.sdpMLineIndex = 0
            await self.connection.addIceCandidate(candidate)

    async def take(self, socket, message):
        kind, flow, sender = message.get("type"), message.get("flow"), message.get("from")
        if kind == "offer" and flow not in self.taken:
            self.taken.add(flow)
            await self.make()
            self.flow = flow
            await self.connection.setRemoteDescription(RTCSessionDescription(message["sdp"], "offer"))
            for line in self.early.pop(flow, []):
                await self.add(line)
            await self.connection.setLocalDescription(await self.connection.createAnswer())
            await socket.send_json({"type": "answer", "flow": flow, "to": sender,
                                    "sdp": self.connection.localDescription.sdp})
        elif kind == "answer" and flow == self.flow and flow not in self.taken:
            self.taken.add(flow)
            await self.connection.setRemoteDescription(RTCSessionDescription(message["sdp"], "answer"))
            for line in self.early.pop(flow, []):
                await self.add(line)
        elif kind == "candidate":
            if flow == self.flow and self.connection.remoteDescription:
                await self.add(message["line"])
            else:
                self.early.setdefault(flow, []).append(message["line"])

    async def offer(self, socket, to):
        """Offers the pattern."""
        await self.make()
        self.flow = f"{os.getpid()}-{self.figures[3]}"
        self.connection.addTrack(Pattern())
        await self.connection.setLocalDescription(await self.connection.createOffer())
        await socket.send_json({"type": "offer", "flow": self.flow, "to": to,
                                "sdp": self.connection.localDescription.sdp})

    async def run(self, url, viewer):
        """Stays in the room until it is killed or told to leave. Makes an offer whenever `viewer` comes."""
        leaving = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)

        async def stay():
            while True:
                try:
                    async with aiohttp.ClientSession() as client, client.ws_connect(url) as socket:
                        self.socket = socket
                        async for said in socket:
                            message = json.loads(said.data)
                            names = [each["peer"] for each in message.get("peers", [])] + [message.get("peer")]
                            if viewer and message["type"] in ("welcome", "joined") and viewer in names:
                                await self.offer(socket, viewer)
                            await self.take(socket, message)
                except (aiohttp.ClientError, OSError):
                    pass
                await asyncio.sleep(0.1)

        work = asyncio.ensure_future(stay())
        await leaving.wait()
        work.cancel()
        try:
            if getattr(self, "socket", None) is not None:
                await asyncio.wait_for(self.socket.close(), 2)
        finally:
            # Exits at once: closing aiortc's connection would wait for its threads.
            os._exit(0)


def stay(shared, message):
    return Guest(shared).run(message["url"], message.get("viewer"))


guests.serve(peer.parser(__doc__).parse_args(), stay, "sessions")
