#!/usr/bin/env python3
"""Publishes to `whip:` with aiortc repeatedly, and prints the results as one JSON object.

Usage: whip-rounds.py [--inlet PROGRAM] [--rounds N] [--growth KILOBYTES]

Publishers end in turn with DELETE, without it, and by being replaced by the next one. After a tenth of the rounds, the
endpoint's threads, descriptors and memory are counted, and again at the end. If `trouble` is empty, all publishers
connected, none remains at the end, and nothing grew. Needs aiortc and aiohttp from PyPI.
"""
import argparse
import asyncio
import json
import logging
import time

import aiohttp
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription, VideoStreamTrack

import whep

ENDS = ["delete", "close", "replaced"]
LIMIT = 15


class Rounds:
    def __init__(self, options, inlet, client):
        self.options, self.inlet, self.client = options, inlet, client
        self.trouble, self.replaced = [], None
        self.headers = {"authorization": f"Bearer {inlet.TOKEN}"}

    async def publish(self, number):
        made, is_up = RTCPeerConnection(RTCConfiguration(iceServers=[])), asyncio.Event()
        made.on("connectionstatechange", lambda: made.connectionState == "connected" and is_up.set())
        # A track of green pictures.
        made.addTransceiver(VideoStreamTrack(), "sendonly")
        await made.setLocalDescription(await made.createOffer())
        async with self.client.post(
                self.inlet.endpoint, data=made.localDescription.sdp,
                headers={**self.headers, "content-type": "application/sdp"}) as answer:
            if answer.status != 201:
                self.trouble.append(f"round {number}: {answer.status}")
                return await made.close()
            place = f"http://{self.inlet.address}{answer.headers['location']}"
            await made.setRemoteDescription(RTCSessionDescription(await answer.text(), "answer"))
        try:
            await asyncio.wait_for(is_up.wait(), LIMIT)
        except TimeoutError:
            self.trouble.append(f"round {number} is {made.connectionState}")
        if self.replaced:
            await self.replaced.close()
        self.replaced = None
        match ENDS[number % len(ENDS)]:
            case "delete":
                async with self.client.delete(place, headers=self.headers) as answer:
                    if answer.status != 200:
                        self.trouble.append(f"the end of round {number}: {answer.status}")
                await made.close()
            case "close": await made.close()
            case _: self.replaced = made

    async def all(self):
        counts, begun = None, time.monotonic()
        for number in range(self.options.rounds):
            if number == self.options.rounds // 10:
                counts = self.inlet.counts()
            await self.publish(number)
        if self.replaced:
            await self.replaced.close()
        end = time.monotonic() + LIMIT
        while (left := await asyncio.to_thread(self.inlet.viewers)) and time.monotonic() < end:
            await asyncio.sleep(0.2)
        if left:
            self.trouble.append("somebody is published at the end")
        self.trouble += await asyncio.to_thread(self.inlet.growth, counts, self.options.growth)
        return {"trouble": self.trouble, "rounds": self.options.rounds, "before": counts, "after": self.inlet.counts(),
                "seconds": round(time.monotonic() - begun, 1)}


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whep.add_options(parser)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--growth", type=int, default=20_000,
                        help="kilobytes by which the endpoint's memory may grow; a sanitizer needs more")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    with whep.Inlet(options, takes_publishers=True) as inlet:
        async with aiohttp.ClientSession() as client:
            seen = await Rounds(options, inlet, client).all()
        seen["trouble"] += inlet.end()
    print(json.dumps(seen))


asyncio.run(main())
