#!/usr/bin/env python3
"""Shows how `webrtc:` adapts to a changing link: a viewer in a separate network namespace, behind a rate limit of the
kernel.

Usage: whep-links.py [--inlet PROGRAM] [--viewer aiortc|chromium] [--steps SECONDS:KBPS,...] [--loss PERCENT[-PERCENT]]
       [--json]

Needs root, or at least permission to create network namespaces; without it, prints an error and ends with 69. The
server runs in a network of the script, the viewer in another, and between them is a pair of veth with tc's token
bucket, whose queue holds --queue milliseconds. The picture is that of busy-camera.py, which uses all available bits.
The kernel may have no netem, so loss is simulated: for aiortc by the link of whep-viewer.py with a seed, and for
Chromium by iptables (packets at random, the share of each second by the seed).

For each step the script prints the rate that the server sent (before the queue dropped anything), the rate that it
intends to send (/stats.json), the delay of each picture from drawing to decoding by CLOCK_MONOTONIC, the longest time
without a new picture, and the time that the rate took to adapt: until the intended rate is at most the link's rate, or,
if the link became faster, at least 80 % of the usable rate. Because the server probes for a higher rate from time to
time, the script also prints the maximum intended rate after that, as a multiple of the link's rate.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import threading
import time

import namespaces
import whep
from namespaces import ip

PEERS = f"{whep.ROOT}/Tests/Peers"
SETTLES = 4


class Namespace:
    """A namespace at the far end of a link with a rate. For a `with` statement."""

    def __init__(self, queue):
        number = os.getpid() % 16384
        self.name, self.near, self.far = f"whep{number}", f"wn{number}", f"wf{number}"
        self.network = f"10.{200 + number // 4096}.{number // 16 % 256}"
        self.queue, self.loses = queue, False

    def __enter__(self):
        namespaces.make(self.name)
        try:
            ip("link", "add", self.near, "type", "veth", "peer", "name", self.far)
            ip("link", "set", self.far, "netns", self.name)
            ip("addr", "add", f"{self.network}.1/24", "dev", self.near)
            ip("link", "set", self.near, "up")
            ip("-n", self.name, "addr", "add", f"{self.network}.2/24", "dev", self.far)
            ip("-n", self.name, "link", "set", self.far, "up")
            self.limit(100_000, "add")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        ip("link", "del", self.near, check=False)
        ip("netns", "del", self.name, check=False)

    def limit(self, kbps, how="change"):
        subprocess.run(
            ["tc", "qdisc", how, "dev", self.near, "root", "tbf", "rate", f"{kbps}kbit", "burst", "8kb", "limit",
             str(max(3000, int(kbps / 8 * self.queue)))], check=True)

    def lose(self, percent):
        """Makes the far end lose this percentage of the media packets."""
        rule = ["-i", self.far, "-p", "udp", "-m", "statistic", "--mode", "random",
                "--probability", f"{percent / 100:.4f}", "-j", "DROP"]
        place = ["-R", "INPUT", "1"] if self.loses else ["-A", "INPUT"]
        subprocess.run(["ip", "netns", "exec", self.name, "iptables", "-w", *place, *rule], check=True)
        self.loses = True

    def passed(self):
        """Returns the forwarded bytes, and the packets that did not fit into the queue."""
        shown = subprocess.run(["tc", "-s", "qdisc", "show", "dev", self.near], capture_output=True, text=True).stdout
        found = re.search(r"Sent (\d+) bytes \d+ pkt \(dropped (\d+)", shown)
        return int(found[1]), int(found[2])


def viewer(options, place, server, seconds):
    if options.viewer == "chromium":
        program = ["/usr/bin/python3", "-B", f"{PEERS}/whep-browser.py", server.page]
    else:
        program = [whep.AIORTC, "-B", f"{PEERS}/whep-viewer.py", server.endpoint, "--token", server.TOKEN,
                   "--loss", options.loss, "--seed", str(options.seed)]
    return subprocess.Popen(
        ["ip", "netns", "exec", place.name, *program, "--seconds", str(seconds), "--series"],
        stdout=subprocess.PIPE, text=True)


def watch(options):
    """Runs the whole test. Returns the steps with their starts, samples of the server's side and the viewer's pictures.
    """
    steps = [tuple(map(float, step.split(":"))) for step in options.steps.split(",")]
    with Namespace(options.queue) as place:
        camera, peer = whep.busy_camera(options), None
        try:
            with whep.Inlet(options, camera=camera, host=f"{place.network}.1") as server:
                place.limit(steps[0][1])
                # The browser starts slowly.
                seconds = sum(seconds for seconds, _ in steps) + SETTLES + (6 if options.viewer == "chromium" else 0)
                peer = viewer(options, place, server, seconds)
                end = time.monotonic() + 60
                while not (viewers := server.viewers()) or viewers[0]["state"] != "connected":
                    if peer.poll() is not None or time.monotonic() > end:
                        sys.exit(f"whep-links: the viewer did not come to see anything\n{server.text()[-2000:]}")
                    time.sleep(0.05)
                return steps, *follow(options, place, server, peer, steps)
        finally:
            for process in (peer, camera):
                if process:
                    whep.stop(process)


def follow(options, place, server, peer, steps):
    """Changes the link's rate by the steps. Returns their starts, samples of the server's side and the viewer's
    results."""
    time.sleep(SETTLES - 1)
    began, samples, stop = [], [], threading.Event()
    least, _, most = options.loss.partition("-")
    losses, second = random.Random(options.seed), -1

    def sample():
        nonlocal second
        while not stop.wait(0.2):
            if options.viewer == "chromium" and float(most or least) > 0 and int(time.monotonic()) != second:
                second = int(time.monotonic())
                place.lose(losses.uniform(float(least), float(most or least)))
            viewers = server.viewers()
            samples.append((
                time.monotonic_ns(), *place.passed(), min((each["bitrate"] for each in viewers), default=None)))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        for seconds, kbps in steps:
            place.limit(kbps)
            began.append(time.monotonic_ns())
            time.sleep(seconds)
        began.append(time.monotonic_ns())
    finally:
        stop.set()
        sampler.join()
    output, _ = peer.communicate(timeout=60)
    return began, samples, json.loads(output)


def longest_gap(times, begin, end):
    """Returns the longest time without a new picture within a step or at its start."""
    inside = [begin, *(each for each in times if begin < each < end), end]
    return max(b - a for a, b in zip(inside, inside[1:])) / 1e6


def summary(options, steps, began, samples, seen):
    rows = []
    most = options.most
    for index, (seconds, kbps) in enumerate(steps):
        begin, end = began[index], began[index + 1]
        part = [each for each in samples if begin <= each[0] <= end]
        pictures = [each for each in seen["series"] if begin <= each[2] < end]
        delays = sorted((each[2] - each[1]) / 1e6 for each in pictures)
        sent = []
        for a, b in zip(part, part[5:]):
            sent.append((b[0], ((b[1] - a[1]) * 8 + (b[2] - a[2]) * 1200 * 8) / ((b[0] - a[0]) / 1e9) / 1000))
        falls = index > 0 and kbps < steps[index - 1][1]
        usable = min(kbps, most)

        def fits(each):
            return each[3] is not None and (
                each[3] / 1000 <= kbps if falls or index == 0 else each[3] / 1000 >= 0.8 * usable)

        first = next((each[0] for each in part if fits(each)), None)
        followed = None if first is None else (first - begin) / 1e9
        after = [
            each[3] / 1000 / kbps
            for each in part if first is not None and each[0] >= first and each[3] is not None]
        middle = len(delays) // 2
        rows.append({
            "seconds": seconds, "kbps": kbps, "falls": falls, "followed_s": followed,
            "most_after": max(after, default=None),
            "meant_kbps": [round(each[3] / 1000) for each in part[::5] if each[3] is not None],
            "sent_kbps": [round(rate) for _, rate in sent[::5]],
            "dropped_by_queue": part[-1][2] - part[0][2] if part else None, "pictures": len(pictures),
            "delay_ms": {
                "p50": delays[middle], "p95": delays[len(delays) * 95 // 100], "most": delays[-1],
            } if delays else None,
            "over_500_ms": sum(each > 500 for each in delays),
            "longest_freeze_ms": longest_gap([each[2] for each in seen["series"]], begin, end)})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whep.add_options(parser)
    parser.add_argument("--viewer", choices=["aiortc", "chromium"], default="aiortc")
    parser.add_argument("--steps", default="10:5000,20:500,20:5000")
    parser.add_argument("--loss", default="0", help="percent, or from-to for a different loss each second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queue", type=int, default=300, help="the length of the link's queue in milliseconds")
    parser.add_argument("--most", type=float, default=2500, help="the maximum rate of the sink in kbit/s")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    namespaces.leave()
    steps, began, samples, seen = watch(options)
    rows = summary(options, steps, began, samples, seen)
    if options.json:
        print(json.dumps({
            "steps": rows, "unread": seen["unread"], "error": seen.get("error"),
            "statistics": seen.get("statistics")}))
        return
    for row in rows:
        delay = row["delay_ms"] or {"p50": 0, "p95": 0, "most": 0}
        followed = "never" if row["followed_s"] is None else f"{row['followed_s']:.1f} s"
        print(f"{row['kbps']:6.0f} kbit/s for {row['seconds']:.0f} s: followed after {followed}, "
              f"then at most {row['most_after'] or 0:.2f} of it; {row['pictures']} pictures, "
              f"delay p50 {delay['p50']:.0f} p95 {delay['p95']:.0f} most {delay['most']:.0f} ms "
              f"({row['over_500_ms']} over 500), longest freeze {row['longest_freeze_ms']:.0f} ms, "
              f"{row['dropped_by_queue']} packets lost by the queue")
        print(f"        means to send each second: {row['meant_kbps']}\n        sends each second: {row['sent_kbps']}")
    print(f"pictures that could not be read: {seen['unread']}; {seen.get('error') or 'no error'}")


main()
