#!/usr/bin/env python3
"""Views a WHEP endpoint with aiortc, and prints the results as one JSON object.

Usage: whep-viewer.py URL [--frames N | --seconds S] [--viewers N] [--rounds N] [--token TOKEN]
       [--loss PERCENT[-PERCENT]] [--kbps RATE] [--seed N] [--series]

Reads the frame numbers that `pattern:timecode` draws. Every viewer is a separate peer; the figures of the first are
printed in full. Needs aiortc, aiohttp and numpy from PyPI. With --loss or --kbps, the server's packets pass a link that
loses packets by a seed, or has a rate and a queue of 200 ms before it; a loss of 0-10 changes each second within that
range. `candidates` are the kinds and addresses in the answer, `path` those of the pair in use. With --rounds, viewers
join that many times, one after another: `rounds` are the numbers of pictures that each first viewer read. With --series
the first viewer's pictures are listed: number, drawing time, arrival time.
"""
import argparse
import asyncio
import json
import logging
import random
import re
import socket
import time
import urllib.parse

import aiohttp
import numpy
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription

import timecode

LIMIT = 30


class Link(asyncio.DatagramProtocol):
    """A link before the server's media. It loses or delays the server's packets; the viewer's packets pass."""

    def __init__(self, server, options):
        self.server, self.viewer, self.options = server, None, options
        self.random = random.Random(options.seed)
        self.free = 0.0
        self.loss, self.second = 0.0, -1

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        if address != self.server:
            self.viewer = address
            return self.transport.sendto(data, self.server)
        now = time.monotonic()
        if int(now) != self.second:
            self.second, self.loss = int(now), self.random.uniform(*self.options.loss)
        if self.viewer is None or self.random.random() * 100 < self.loss:
            return
        if not self.options.kbps:
            return self.transport.sendto(data, self.viewer)
        begin = max(now, self.free)
        if begin - now > 0.2:
            return
        self.free = begin + len(data) / (self.options.kbps * 125)
        asyncio.get_running_loop().call_later(self.free - now, self.transport.sendto, data, self.viewer)


async def linked(answer, options):
    """Returns the answer with the link instead of the server's UDP candidate. If there are several, it replaces the
    one with the address of the URL."""
    lines = answer.splitlines()
    udp = [
        line.split() for line in lines
        if line.startswith("a=candidate:") and line.split()[2].lower() == "udp" and ":" not in line.split()[4]]
    udp.sort(key=lambda words: words[4] != urllib.parse.urlsplit(options.url).hostname)
    server = (udp[0][4], int(udp[0][5]))
    # This host's address towards the server; on the same host it is the server's address.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(server)
        host = probe.getsockname()[0]
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Link(server, options), local_addr=(host, 0))
    port = transport.get_extra_info("sockname")[1]
    link = " ".join([*udp[0][:4], host, str(port), *udp[0][6:]])
    kept = [line for line in lines if not line.startswith("a=candidate:")]
    place = next(index for index, line in enumerate(kept) if line.startswith("a=ice-pwd:"))
    return "\r\n".join(kept[: place + 1] + [link] + kept[place + 1 :]) + "\r\n", transport


def path(peer):
    """Returns the selected pair of candidates. aiortc has no API for it."""
    pair = peer.getReceivers()[0].transport.transport._connection._nominated.get(1)
    return pair and {
        side: {"kind": each.type, "address": each.host}
        for side, each in (("local", pair.local_candidate), ("remote", pair.remote_candidate))}


def luma(frame):
    """Returns the picture's luma, packed."""
    plane = frame.planes[0]
    rows = numpy.frombuffer(plane, numpy.uint8).reshape(plane.height, plane.line_size)
    return rows[:, : plane.width].tobytes()


async def watch(options, client):
    """Runs one viewer and returns its results."""
    seen = {"numbers": [], "delays": [], "unread": 0}
    headers = {"content-type": "application/sdp"}
    if options.token:
        headers["authorization"] = f"Bearer {options.token}"
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    transceiver = peer.addTransceiver("video", direction="recvonly")
    if options.without:
        transceiver.setCodecPreferences(
            [each for each in RTCRtpReceiver.getCapabilities("video").codecs
             if not each.mimeType.endswith("/" + options.without)])
    place = link = None
    begun = time.monotonic()
    try:
        await peer.setLocalDescription(await peer.createOffer())
        begun = time.monotonic()
        async with client.post(options.url, data=peer.localDescription.sdp, headers=headers) as answer:
            seen["status"] = answer.status
            text = await answer.text()
            if answer.status != 201:
                seen["error"] = text.strip()
                return seen
            place = answer.headers["location"]
            seen["location"], seen["etag"] = place, answer.headers["etag"]
        seen["answered"] = time.monotonic() - begun
        seen["candidates"] = [
            {"kind": words[7], "address": words[4]}
            for words in map(str.split, text.splitlines()) if words and words[0].startswith("a=candidate:")]
        if options.loss[1] or options.kbps:
            text, link = await linked(text, options)
        await peer.setRemoteDescription(RTCSessionDescription(text, "answer"))
        track = peer.getReceivers()[0].track
        end = begun + options.seconds if options.seconds else None
        while time.monotonic() < end if end else len(seen["numbers"]) + seen["unread"] < options.frames:
            frame = await asyncio.wait_for(track.recv(), LIMIT)
            now = time.monotonic_ns()
            found = timecode.read(luma(frame), frame.width, frame.height)
            seen.setdefault("first", time.monotonic() - begun)
            seen["size"] = f"{frame.width}x{frame.height}"
            if seen["size"] not in seen.setdefault("sizes", []):
                seen["sizes"].append(seen["size"])
                seen["path"] = path(peer)
            if found is None:
                seen["unread"] += 1
                continue
            seen["numbers"].append(found[0])
            seen["delays"].append((now - found[1]) / 1e6)
            if options.series:
                seen.setdefault("series", []).append([*found, now])
    except asyncio.TimeoutError:
        seen["error"] = f"no picture for {LIMIT} s"
    finally:
        if place:
            async with client.delete(aiohttp.client.URL(options.url).join(aiohttp.client.URL(place)),
                                     headers=headers) as answer:
                seen["deleted"] = answer.status
        await peer.close()
        if link:
            link.close()
    return seen


def summary(seen):
    """Returns a summary: the received numbers, the missing ones between the first and the last, and the delays."""
    numbers = seen.pop("numbers")
    delays = sorted(seen.pop("delays"))
    if numbers:
        seen["from"], seen["to"], seen["count"] = numbers[0], numbers[-1], len(numbers)
        seen["missing"] = numbers[-1] - numbers[0] + 1 - len(set(numbers))
        seen["rises"] = all(a < b for a, b in zip(numbers, numbers[1:]))
        seen["repeated"] = sum(a == b for a, b in zip(numbers, numbers[1:]))
        seen["back"] = sum(a > b for a, b in zip(numbers, numbers[1:]))
        seen["delay"] = {"p50": delays[len(delays) // 2], "p99": delays[len(delays) * 99 // 100], "most": delays[-1]}
    return seen


def percents(text):
    least, _, most = text.partition("-")
    return float(least), float(most or least)


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=0, help="how long to watch, instead of a number of frames")
    parser.add_argument("--viewers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--token")
    parser.add_argument("--loss", type=percents, default=(0, 0),
                        help="percent of the server's packets, or from-to")
    parser.add_argument("--kbps", type=float, default=0)
    parser.add_argument("--without", help="a codec to omit from the offer, such as H264")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--series", action="store_true")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    async with aiohttp.ClientSession() as client:
        rounds = []
        for _ in range(options.rounds):
            seen = await asyncio.gather(*(watch(options, client) for _ in range(options.viewers)))
            rounds.append(len(seen[0]["numbers"]))
    first, *others = [summary(each) for each in seen]
    if others:
        first["others"] = [
            {name: each.get(name) for name in ("status", "first", "count", "missing", "error")} for each in others]
    if options.rounds > 1:
        first["rounds"] = rounds
    print(json.dumps(first))


asyncio.run(main())
