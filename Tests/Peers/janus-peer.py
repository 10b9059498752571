#!/usr/bin/env python3
"""Subscribers to a VideoRoom of Janus by aiortc, each a process of its own that can be killed: they see whoever
publishes, and whoever comes after that. `join` starts one, `kill` ends it without a word, `leave` has it say goodbye.

Reads the frame numbers of `pattern:timecode`. See README.md. Needs aiohttp, aiortc and numpy from PyPI.
"""
import asyncio
import itertools
import mmap
import os
import signal
import struct
import threading
import time

import aiohttp
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

import peer
import seen

# Numbers read of the present feed, pictures without a number, numbers that did not rise, feeds.
FIGURES = struct.Struct("qqqq")


class Subscriber:
    def __init__(self, shared):
        self.shared, self.figures = shared, [0, 0, 0, 0]
        self.replies, self.events, self.numbers = {}, asyncio.Queue(), itertools.count(1)
        self.feeds, self.session = {}, None

    def note(self):
        self.shared.seek(0)
        self.shared.write(FIGURES.pack(*self.figures))

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
            # What the plug-in answers follows the word that the request has come.
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
            # Not by the end of aiortc's threads, for which closing its connection would wait.
            os._exit(0)


subscribers = {}
jobs = []
done = threading.Condition()


def fork(url, room):
    shared = mmap.mmap(-1, FIGURES.size)
    child = os.fork()
    if child == 0:
        try:
            peer._libc.prctl(peer.PR_SET_PDEATHSIG, signal.SIGKILL)
            # What the parent reads and writes is not its own.
            devnull = os.open(os.devnull, os.O_RDWR)
            os.dup2(devnull, 0)
            os.dup2(devnull, 1)
            asyncio.run(Subscriber(shared).run(url, room))
        finally:
            os._exit(0)
    return child, shared


def join(message):
    """Has the main thread start a subscriber, as children die with the thread that made them."""
    with done:
        jobs.append(message)
        done.notify_all()
        while message in jobs:
            done.wait(5)
    return {"pid": subscribers[message["name"]][0]}


def end(number):
    def run(message):
        child, _ = subscribers.pop(message["name"])
        os.kill(child, number)
        # One whose threads keep it from leaving is killed.
        deadline = time.monotonic() + 3
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.01)
    return run


def report(message):
    _, shared = subscribers[message["name"]]
    shared.seek(0)
    count, unread, fallen, feeds = FIGURES.unpack(shared.read(FIGURES.size))
    return {"count": count, "unread": unread, "fallen": fallen, "feeds": feeds}


def main():
    options = peer.parser(__doc__).parse_args()
    peer.serve(options, {"join": join, "kill": end(signal.SIGKILL), "leave": end(signal.SIGTERM), "report": report}, {})
    while True:
        with done:
            while not jobs:
                done.wait()
            message = jobs[0]
            subscribers[message["name"]] = fork(message["url"], int(message["room"]))
            jobs.pop(0)
            done.notify_all()


main()
