#!/usr/bin/env python3
"""A WHEP viewer with aiortc that stays and reports its pictures. See README.md. Needs aiortc, aiohttp and numpy."""
import asyncio
import logging

import aiohttp
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

import peer
import seen


async def main():
    parser = peer.parser(__doc__)
    parser.add_argument("url")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    pictures, connection = seen.Pictures(), RTCPeerConnection(RTCConfiguration(iceServers=[]))
    connection.addTransceiver("video", direction="recvonly")
    await connection.setLocalDescription(await connection.createOffer())
    async with aiohttp.ClientSession() as client:
        headers = {"content-type": "application/sdp"}
        async with client.post(options.url, data=connection.localDescription.sdp, headers=headers) as answer:
            if answer.status != 201:
                peer.fail(f"{answer.status}: {await answer.text()}")
            text = await answer.text()
    await connection.setRemoteDescription(RTCSessionDescription(text, "answer"))

    def report(_):
        return {**pictures.report(), "sessions": 1, "state": connection.connectionState, "sdp": text}

    peer.serve(options, {"report": report}, {})
    track = connection.getReceivers()[0].track
    while True:
        pictures.add(await track.recv())


asyncio.run(main())
