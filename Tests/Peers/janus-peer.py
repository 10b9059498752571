#!/usr/bin/env python3
"""Subscribers to a VideoRoom of Janus with aiortc, each in a separate process that can be killed. They receive all
present and later publishers. `join` starts one, `kill` ends it silently, `leave` makes it say goodbye.

Reads the frame numbers of `pattern:timecode`. See README.md. Needs aiohttp, aiortc and numpy from PyPI.
"""
import asyncio
import itertools
import os
import signal

import aiohttp
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

import guests
import peer
import seen


class Subscriber:
    def __init__(self, shared):
        self.shared, self.figures = shared, [0, 0, 0, 0]
        self.replies, self.events, self.numbers = {}, asyncio.Queue(), itertools.count(1)
        self.feeds, self.session = {}, None

    def note(self):
        guests.write(self.shared, self.figures)

    async def ask(self, kind, **fields):
        name = str(next(self.numbers))
        self.replies[name] = asyncio.get_running_loop().create_future()
        if self.session:
            fields["session_id"] = self.session
        await self.socket.send_json({"janus": kind, "transaction": name, **fields})
        return await asyncio.wait_for(self.replies[name], 10)

    async def attach(self):
        return (await self.ask("attach", plugin="janus.plugin.videoroom"))["data"]["id"]

    async def read(self):
        async for said in self.socket:
            message = said.json()
            waiting = self.replies.get(message.get("transaction"))
            # The answer of the plug-in comes after the acknowledgement of the request.
            if message["janus"] == "ack":
                continue
            if waiting and not waiting.done():
                waiting.set_result(message)
            elif message["janus"] == "event":
                await self.events.put(message)
        await self.events.put(None)

    async def keep(self):
        while True:
            await asyncio.sleep(10)
            await self.socket.send_json({"janus": "keepalive", "transaction": "k", "session_id": self.session})

    async def subscribe(self, feed):
        if feed in self.feeds:
            return
        handle = await self.attach()
        answer = await self.ask("message", handle_id=handle, body={
            "request": "join", "ptype": "subscriber", "room": self.room, "streams": [{"feed": feed}]})
        if "jsep" not in answer:
            return
        made = self.feeds[feed] = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        made.on("track", lambda track: asyncio.ensure_future(self.watch(feed, track)))
        await made.setRemoteDescription(RTCSessionDescription(answer["jsep"]["sdp"], "offer"))
        await made.setLocalDescription(await made.createAnswer())
        await self.ask("message", handle_id=handle, body={"request": "start"},
                       jsep={"type": "answer", "sdp": made.localDescription.sdp})

    async def part(self, feed):
        made = self.feeds.pop(feed, None)
        if made:
            await made.close()

    async def watch(self, feed, track):
        if track.kind != "video":
            return
        self.figures[0:2], last, pictures = [0, 0], -1, seen.Pictures()
        self.figures[3] += 1
        self.note()
        try:
            while True:
                number = pictures.add(await track.recv())
                if feed not in self.feeds:
                    return
                if number is None:
                    self.figures[1] += 1
                else:
                    self.figures[0] += 1
                    self.figures[2] += 1 if number <= last else 0
                    last = number
                self.note()
        except Exception:
            pass

    async def run(self, url, room):
        self.room = room
        leaving = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)

        async def stay():
            async with aiohttp.ClientSession() as client, \
                    client.ws_connect(url, protocols=("janus-protocol",)) as self.socket:
                reading = asyncio.ensure_future(self.read())
                self.session = (await self.ask("create"))["data"]["id"]
                keeping = asyncio.ensure_future(self.keep())
                mine = await self.attach()
                joined = await self.ask("message", handle_id=mine, body={
                    "request": "join", "ptype": "publisher", "room": room, "display": "watcher"})
                await self.events.put(joined)
                while (event := await self.events.get()) is not None:
                    data = event.get("plugindata", {}).get("data", {})
                    for publisher in data.get("publishers", []):
                        await self.subscribe(publisher["id"])
                    for key in ("unpublished", "leaving"):
                        if key in data:
                            await self.part(data[key])
                reading.cancel()
                keeping.cancel()

        work = asyncio.ensure_future(stay())
        await asyncio.wait([work, asyncio.ensure_future(leaving.wait())], return_when=asyncio.FIRST_COMPLETED)
        try:
            if leaving.is_set() and self.session:
                await asyncio.wait_for(self.ask("destroy"), 2)
        finally:
            # Exits at once: closing aiortc's connection would wait for its threads.
            os._exit(0)


def stay(shared, message):
    return Subscriber(shared).run(message["url"], int(message["room"]))


guests.serve(peer.parser(__doc__).parse_args(), stay, "feeds")
