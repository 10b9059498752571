#!/usr/bin/env python3
"""Lets WHEP viewers join and leave by a schedule from a seed, and prints the results of the viewers and the server as
one JSON object.

Usage: whep-soak.py [--inlet PROGRAM] [--sessions N] [--seed N] [--workers N]

The viewers use aiortc, perform DTLS, read packets and assemble pictures, but do not decode them. One to twelve join at
once. They leave with one, two or no DELETE, at once, or never connect; some processes are killed with all their
viewers. Candidates come by PATCH late, twice, in any order or not at all. After a fifth of the schedule, when all have
left, the server's threads, descriptors and memory are counted, and again at the end. If `trouble` is empty, all
sessions ended within 12 s of the last viewer (10 s, and the time of a check each second), and nothing grew.
"""
import argparse
import asyncio
import collections
import json
import logging
import os
import random
import select
import signal
import time

import aiohttp
import aiortc.rtcrtpreceiver
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

import whep

FRAGMENT = "application/trickle-ice-sdpfrag"
ENDS = ["delete"] * 9 + ["twice"] * 3 + ["close"] * 4 + ["never"] * 2 + ["at once"] * 2


class Assembler(aiortc.rtcrtpreceiver.JitterBuffer):
    """Assembles pictures without decoding them."""
    keys = packets = 0

    def add(self, packet):
        Assembler.packets += 1
        wants_key, frame = super().add(packet)
        if frame and (b"\0\0\1\x65" in frame.data[:200] or b"\0\0\1\x25" in frame.data[:200]):
            Assembler.keys += 1
        return wants_key, None


aiortc.rtcrtpreceiver.JitterBuffer = Assembler


def plan(chance):
    """Plans one viewer."""
    return {
        "wait": chance.choice([0, 0, chance.random()]), "stay": chance.choice([0.2, 1, 3]) * chance.random(),
        "end": chance.choice(ENDS), "trickles": chance.random() < 0.5, "loses": chance.random() * 0.5,
        "doubles": chance.random(), "late": chance.choice([0, 0.3, 1]) * chance.random()}


async def trickle(client, place, headers, candidates, mid, chance, spec):
    """Sends candidates like bad signaling."""
    lines = [line for line in candidates if chance.random() >= spec["loses"]]
    lines += [line for line in lines if chance.random() < spec["doubles"]]
    chance.shuffle(lines)
    statuses = []
    for line in [*lines, "a=end-of-candidates"]:
        await asyncio.sleep(chance.random() * spec["late"])
        async with client.patch(place, data=f"a=mid:{mid}\r\n{line}\r\n", headers=headers) as answer:
            statuses.append(answer.status)
    return statuses


async def view(server, client, seed, spec):
    """Runs one viewer and returns its result."""
    chance = random.Random(seed)
    seen = {"end": spec["end"], "connected": False, "patches": []}
    bearer = {"authorization": f"Bearer {whep.Inlet.TOKEN}"}
    await asyncio.sleep(spec["wait"])
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    connected = asyncio.Event()
    peer.on("connectionstatechange", lambda: peer.connectionState == "connected" and connected.set())
    trickling = None
    try:
        peer.addTransceiver("video", direction="recvonly")
        await peer.setLocalDescription(await peer.createOffer())
        lines = peer.localDescription.sdp.split("\r\n")
        candidates = [line for line in lines if line.startswith("a=candidate:")]
        if spec["trickles"]:
            lines = [line for line in lines if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
        async with client.post(server.endpoint, data="\r\n".join(lines),
                               headers={"content-type": "application/sdp", **bearer}) as answer:
            seen["status"] = answer.status
            text = await answer.text()
            if answer.status != 201:
                return seen
            place = str(answer.url.join(aiohttp.client.URL(answer.headers["location"])))
            tag = answer.headers["etag"]
        if spec["trickles"]:
            headers = {"content-type": FRAGMENT, "if-match": tag, **bearer}
            trickling = asyncio.create_task(trickle(
                client, place, headers, candidates, peer.getTransceivers()[0].mid, chance, spec))
        if spec["end"] not in ("never", "at once"):
            await peer.setRemoteDescription(RTCSessionDescription(text, "answer"))
            try:
                await asyncio.wait_for(connected.wait(), 15)
                seen["connected"] = True
            except asyncio.TimeoutError:
                seen["error"] = "not connected within 15 s"
            await asyncio.sleep(spec["stay"])
        if spec["end"] in ("delete", "twice", "at once"):
            for _ in range(2 if spec["end"] == "twice" else 1):
                async with client.delete(place, headers=bearer) as answer:
                    seen.setdefault("deleted", []).append(answer.status)
        if trickling:
            seen["patches"] = await trickling
    except (aiohttp.ClientError, asyncio.TimeoutError) as error:
        seen["error"] = repr(error)
    finally:
        if trickling:
            trickling.cancel()
        await peer.close()
    return seen


def work(server, pipe, seeds):
    """Runs the viewers of a process, all at once."""

    async def all():
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as client:
            async def one(seed):
                seen = await view(server, client, seed, plan(random.Random(seed)))
                os.write(pipe, (json.dumps(seen) + "\n").encode())

            await asyncio.gather(*(one(seed) for seed in seeds))
            os.write(pipe, (json.dumps({"packets": Assembler.packets, "keys": Assembler.keys}) + "\n").encode())

    asyncio.run(all())


class Soak:
    def __init__(self, options, server):
        self.options, self.server, self.chance = options, server, random.Random(options.seed)
        self.trouble, self.tally = [], collections.Counter()
        self.workers = {}  # process: [pipe's end, text so far, when to kill it, its sessions]

    def start(self, count):
        seeds = [self.chance.randrange(1 << 40) for _ in range(count)]
        kill = time.monotonic() + self.chance.random() * 4 if self.chance.random() < 0.15 else None
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                os.close(reader)
                signal.alarm(90)
                work(self.server, writer, seeds)
            finally:
                os._exit(0)
        os.close(writer)
        self.workers[process] = [reader, b"", kill, count]

    def collect(self, wait):
        """Collects the workers' messages, and kills workers at their planned time."""
        now = time.monotonic()
        for process, worker in self.workers.items():
            if worker[2] and now >= worker[2]:
                os.kill(process, signal.SIGKILL)
                worker[2] = None
                self.tally["killed"] += 1
        ready, _, _ = select.select([worker[0] for worker in self.workers.values()], [], [], wait)
        for process, worker in list(self.workers.items()):
            if worker[0] not in ready:
                continue
            part = os.read(worker[0], 65536)
            worker[1] += part
            if part:
                continue
            os.close(worker[0])
            _, status = os.waitpid(process, 0)
            del self.workers[process]
            lines = worker[1].decode().splitlines()
            told = [json.loads(line) for line in lines if line.endswith("}")]
            for each in told:
                self.note(each)
            self.tally["silent"] += worker[3] - sum("end" in each for each in told)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
                self.trouble.append("a process of viewers did not end within 90 s")

    def note(self, seen):
        if "packets" in seen:
            self.tally["packets"] += seen["packets"]
            self.tally["keys"] += seen["keys"]
            return
        self.tally[seen["end"]] += 1
        self.tally["connected"] += seen["connected"]
        for name, statuses, right in (
            ("offer", [seen.get("status")], {201, 429, 503}), ("patch", seen["patches"], {204, 404}),
            ("end", seen.get("deleted", []), {200, 404}),
        ):
            for status in statuses:
                self.tally[f"{name} {status}"] += 1
                if status is not None and status not in right:
                    self.trouble.append(f"an {name} was answered {status}")
        if "error" in seen:
            self.tally["errors"] += 1
            self.trouble.append(seen["error"])

    def run(self, sessions):
        """Runs this number of sessions until the last one ends. Returns how long the server kept some of them after
        that."""
        left = sessions
        while left or self.workers:
            if left and len(self.workers) < self.options.workers:
                count = min(left, self.chance.choice([1, 1, 2, 3, 5, 12]))
                self.start(count)
                left -= count
            self.collect(0.05)
        begun = time.monotonic()
        while time.monotonic() - begun < 30:
            if not self.server.viewers():
                return round(time.monotonic() - begun, 1)
            time.sleep(0.1)
        self.trouble.append(f"sessions are left after 30 s: {self.server.viewers()}")
        return None

    def all(self):
        begun = time.monotonic()
        fresh = self.server.counts()
        warm = max(12, self.options.sessions // 5)
        gone = [self.run(warm)]
        # The counts return almost to their start. Code loaded once took 13 MB in a test, and the time of the check may
        # add as much again.
        self.trouble += self.server.growth(fresh, 2 * self.options.growth)
        counts = [self.server.counts()]
        rest = self.options.sessions - warm
        for part in (rest // 2, rest - rest // 2) if rest > 100 else (rest,):
            gone.append(self.run(part))
            self.trouble += self.server.growth(counts[0], self.options.growth)
            counts.append(self.server.counts())
        for took in gone:
            # Ten seconds of silence, and some time for the check.
            if took is not None and took > 12:
                self.trouble.append(f"sessions were left for {took} s")
        return {"trouble": self.trouble, "sessions": self.options.sessions, "fresh": fresh, "counts": counts,
                "gone_after_s": gone, "seconds": round(time.monotonic() - begun),
                "tally": dict(sorted(self.tally.items()))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whep.add_options(parser, size="640x480")
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--growth", type=int, default=20_000,
                        help="kilobytes by which the server's memory may grow; a sanitizer needs more")
    parser.add_argument("--workers", type=int, default=4, help="processes of viewers at a time")
    options = parser.parse_args()
    logging.basicConfig(level=logging.CRITICAL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    with whep.Inlet(options) as server:
        seen = Soak(options, server).all()
        seen["warnings"] = [
            line for line in server.text().splitlines() if " warning " in line or " error " in line][:10]
        seen["trouble"] += server.end()
    print(json.dumps(seen))


main()
