#!/usr/bin/env python3
"""Sends messages over data channels to a WHEP endpoint that returns them, with aiortc, and prints the returned messages
as one JSON object.

Usage: whep-messages.py URL [--count N] [--large BYTES] [--seconds S]

Opens an ordered channel `control` and a lossy one `events`, sends texts and bytes over each, and waits until all are
returned, at most 20 seconds or those of --seconds. With --large, a message of that many bytes follows on the ordered
channel: `closed` is true if the channel was closed because of it.
"""
import argparse
import asyncio
import json
import logging
import re

import aiohttp
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

LIMIT = 20


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=LIMIT)
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    peer.addTransceiver("video", direction="recvonly")
    channels = {
        "control": peer.createDataChannel("control"),
        "events": peer.createDataChannel("events", ordered=False, maxRetransmits=0)}
    sent = [text for n in range(options.count) for text in (f"number {n} äöü", bytes([n]) * (n * 100 + 1))] + ["", b""]
    back = {name: [] for name in channels}
    done = {name: asyncio.Event() for name in channels}
    closed = asyncio.Event()

    def follow(name, channel):
        @channel.on("open")
        def opened():
            for message in sent:
                channel.send(message)

        @channel.on("message")
        def received(message):
            back[name].append(message)
            if len(back[name]) == len(sent):
                done[name].set()

        @channel.on("close")
        def ended():
            if name == "control":
                closed.set()

    for name, channel in channels.items():
        follow(name, channel)
    seen = {}
    async with aiohttp.ClientSession() as client:
        await peer.setLocalDescription(await peer.createOffer())
        async with client.post(options.url, data=peer.localDescription.sdp,
                               headers={"content-type": "application/sdp"}) as answer:
            seen["status"] = answer.status
            text = await answer.text()
            seen["limit"] = [line for line in text.splitlines() if "max-message-size" in line]
            place = answer.headers.get("location")
        # Ignores the server's limit, so that a message that is too large is sent.
        text = re.sub("a=max-message-size:[0-9]+", "a=max-message-size:0", text)
        await peer.setRemoteDescription(RTCSessionDescription(text, "answer"))
        try:
            await asyncio.wait_for(asyncio.gather(*(each.wait() for each in done.values())), options.seconds)
        except asyncio.TimeoutError:
            seen["error"] = "not all came back"
        seen["ordered"] = back["control"] == sent
        # A loopback loses nothing.
        seen["lossy"] = len(back["events"]) == len(sent) and all(message in sent for message in back["events"])
        seen["counts"] = [len(each) for each in back.values()]
        if options.large:
            channels["control"].send(b"x" * options.large)
            try:
                await asyncio.wait_for(closed.wait(), LIMIT)
                seen["closed"] = True
            except asyncio.TimeoutError:
                seen["closed"] = False
        async with client.delete(aiohttp.client.URL(options.url).join(aiohttp.client.URL(place))) as answer:
            seen["deleted"] = answer.status
    await peer.close()
    print(json.dumps(seen))


asyncio.run(main())
