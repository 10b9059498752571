"""Receives 30 pictures from another peer in a room with aiortc: viewer.py ws://HOST:PORT/ROOM?id=NAME"""
import asyncio
import json
import sys

import aiohttp
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.sdp import candidate_from_sdp


async def add(peer, line):
    # aioice does not support TCP candidates.
    if line and " TCP " not in line.upper():
        candidate = candidate_from_sdp(line.split(":", 1)[1])
        candidate.sdpMLineIndex = 0
        await peer.addIceCandidate(candidate)


async def signal(socket, peer, over):
    flow, early = None, {}
    async for said in socket:
        message = json.loads(said.data)
        if message["type"] == "offer":
            flow = message["flow"]
            await peer.setRemoteDescription(RTCSessionDescription(message["sdp"], "offer"))
            for line in early.pop(flow, []):
                await add(peer, line)
            await peer.setLocalDescription(await peer.createAnswer())
            answer = {"type": "answer", "flow": flow, "sdp": peer.localDescription.sdp, "to": message["from"]}
            await socket.send_json(answer)
        elif message["type"] == "candidate":
            if message["flow"] == flow:
                await add(peer, message["line"])
            else:
                # A candidate may arrive before its description.
                early.setdefault(message["flow"], []).append(message["line"])
        elif message["type"] == "bye":
            over.set()


async def main():
    peer, over, seen = RTCPeerConnection(), asyncio.Event(), {"count": 0, "size": "nothing"}

    async def watch(track):
        while seen["count"] < 30:
            frame = await track.recv()
            seen["count"] += 1
            seen["size"] = f"{frame.width}x{frame.height}"
        over.set()

    peer.on("track", lambda track: asyncio.ensure_future(watch(track)))
    async with aiohttp.ClientSession() as client, client.ws_connect(sys.argv[1]) as socket:
        talk = asyncio.ensure_future(signal(socket, peer, over))
        try:
            await asyncio.wait_for(over.wait(), 40)
        except asyncio.TimeoutError:
            pass
        # Sent to all other members of the room.
        await socket.send_json({"type": "bye"})
        talk.cancel()
    await peer.close()
    print(f"the viewer received {seen['count']} pictures of {seen['size']}")


asyncio.run(main())
