#!/usr/bin/env python3
"""Measures `webrtc:` on this machine, and prints a line for each figure with its bar.

`Scripts/bench --webrtc` builds and runs it.

Usage: whep-bench.py [--inlet PROGRAM] [--json] [--only delay,first,bars,cpu,crowd] [--crowd N]

Methods. Delay: `pattern:timecode` writes the CLOCK_MONOTONIC time of its drawing into each picture. Chromium reads it
in requestVideoFrameCallback, whose presentationTime (and expectedDisplayTime) is mapped to the same clock with
performance.timeOrigin; for aiortc, the time is that at which Python has the decoded picture. First picture: from just
before the POST to the decoded picture, for sessions after the process's first. CPU: of the server's process, from
/proc, over 8 seconds, with GStreamer viewers in another process. Crowd: from the POST to the first whole key frame, all
at once. The figures are not corrected for the machine's load, which is printed with them.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import whep

PEERS = f"{whep.ROOT}/Tests/Peers"


def run(program, script, *arguments, limit=180):
    done = subprocess.run(
        [program, "-B", f"{PEERS}/{script}", *map(str, arguments)], capture_output=True, text=True, timeout=limit)
    if done.returncode:
        sys.exit(f"{script} ended with {done.returncode}: {done.stderr[-1500:]}")
    return json.loads(done.stdout)


def served(options, size, fps, source=None, sink=None):
    changed = argparse.Namespace(**{
        **vars(options), "size": size, "fps": fps, "sink": "&".join(filter(None, [options.sink, sink]))})
    return whep.Inlet(changed, source=source)


class Bench:
    def __init__(self, options):
        self.options, self.rows = options, []

    def note(self, name, value, unit, bar, **more):
        row = {"name": name, "value": value, "unit": unit, "bar": bar,
               "pass": None if bar is None or value is None else value <= bar, **more, "load": os.getloadavg()[0]}
        self.rows.append(row)
        if not self.options.json:
            verdict = {True: "pass", False: "OVER", None: ""}[row["pass"]]
            shown = "nothing" if value is None else f"{value:.1f} {unit}"
            extra = ", ".join(f"{key} {each}" for key, each in more.items())
            print(f"{name:58}{shown:>14}{'' if bar is None else f'  (bar {bar:g})':>14} {verdict:5} {extra}; "
                  f"load {row['load']:.1f}", flush=True)

    def delay(self):
        with served(self.options, "1280x720", 30) as server:
            seen = run("/usr/bin/python3", "whep-browser.py", server.page, "--seconds", 20)
        numbers = seen["numbers"]
        more = {"pictures": seen["pictures"], "of": numbers[-1] - numbers[0] + 1 if numbers else 0,
                "clock_error_ms": seen["clock"]["error"]}
        for kind in ("presented", "displayed"):
            spread = seen[kind] or {}
            self.note(f"Chromium, 720p30, drawn to {kind}, p50", spread.get("p50"), "ms", 60,
                      p95=round(spread.get("p95", 0), 1), **more)
        for size in ("640x480", "1280x720"):
            with served(self.options, size, 60) as server:
                seen = run(whep.AIORTC, "whep-viewer.py", server.endpoint, "--token", server.TOKEN, "--seconds", 10)
            spread = seen.get("delay", {})
            self.note(f"aiortc, {size} at 60 fps, drawn to decoded, p50", spread.get("p50"), "ms", 25,
                      p99=round(spread.get("p99", 0), 1), pictures=seen.get("count"), missing=seen.get("missing"))

    def first(self):
        with served(self.options, "1280x720", 30) as server:
            took = [
                run(whep.AIORTC, "whep-viewer.py", server.endpoint, "--token", server.TOKEN, "--frames", 1)
                for _ in range(7)]
        times = sorted(each["first"] * 1000 for each in took[1:])
        self.note("aiortc, 720p30, POST to first picture, median", statistics.median(times), "ms", 150,
                  first_session=round(took[0]["first"] * 1000), least=round(times[0]), most=round(times[-1]),
                  answered=round(statistics.median(each["answered"] * 1000 for each in took[1:])))

    def bars(self):
        for codec in self.options.codecs.split(","):
            for size in ("640x480", "1280x720"):
                with served(self.options, size, 30, f"pattern:smpte?size={size}&fps=30",
                            f"codecs={codec}&rate=loss") as server:
                    seen = run("/usr/bin/python3", "whep-browser.py", server.page, "--bars")
                found = seen.get("bars") or {}
                wrong = [(want, got) for want, got in zip(found.get("wanted", []), found.get("seen", []))
                         if max(abs(a - b) for a, b in zip(want, got)) > 6]
                self.note(f"Chromium, {codec} {size}, colours from ffmpeg's bars, most", found.get("most"), "levels", 6,
                          points=found.get("points"), colors=found.get("colors"),
                          codec=(seen.get("statistics") or {}).get("codec"), **({"wrong": wrong[:4]} if wrong else {}))

    def cpu(self):
        with served(self.options, "1280x720", 30) as server:
            used = {}
            for viewers in map(int, self.options.viewers.split(",")):
                crowd = subprocess.Popen(
                    ["/usr/bin/python3", "-B", f"{PEERS}/whep-crowd.py", server.endpoint, "--token", server.TOKEN,
                     "--viewers", str(viewers), "--seconds", "120"],
                    stdout=subprocess.PIPE, text=True)
                end = time.monotonic() + 90
                while (sum(each["state"] == "connected" for each in server.viewers(20)) < viewers
                       and time.monotonic() < end):
                    time.sleep(0.2)
                time.sleep(1)
                before, begun = server.cpu(), time.monotonic()
                sent = sum(each["sent"] for each in server.viewers(20))
                time.sleep(8)
                used[viewers] = 100 * (server.cpu() - before) / (time.monotonic() - begun)
                sent = (sum(each["sent"] for each in server.viewers(20)) - sent) / 8 / viewers
                crowd.terminate()
                crowd.communicate(timeout=60)
                self.note(f"CPU of the server, 720p30, viewers: {viewers}", used[viewers], "% of a core",
                          15 if viewers == 1 else None, pictures_a_second=round(sent, 1))
                time.sleep(2)
        few, many = min(used), max(used)
        if many > few:
            self.note(f"CPU of a further viewer, from {few} to {many}", (used[many] - used[few]) / (many - few),
                      "% of a core", 0.8)

    def crowd(self):
        with served(self.options, "1280x720", 30) as server:
            run("/usr/bin/python3", "whep-crowd.py", server.endpoint, "--token", server.TOKEN,
                "--viewers", 1, "--seconds", 2)
            for viewers in sorted({10, self.options.crowd}):
                seen = run("/usr/bin/python3", "whep-crowd.py", server.endpoint, "--token", server.TOKEN,
                           "--viewers", viewers, "--seconds", 12)
                keys = seen["key"]
                self.note(f"{viewers} viewers at once without a key frame within 2 s", viewers - seen["within_2_s"],
                          "viewers", 0, statuses=seen["statuses"],
                          p50_s=keys[len(keys) // 2] if keys else None, last_s=keys[-1] if keys else None)
                time.sleep(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whep.add_options(parser)
    parser.add_argument("--only", default="delay,first,bars,cpu,crowd")
    parser.add_argument("--codecs", default="h264,vp8")
    parser.add_argument("--viewers", default="1,2,10,20")
    parser.add_argument("--crowd", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = Bench(options)
    for name in options.only.split(","):
        getattr(bench, name)()
    if options.json:
        print(json.dumps(bench.rows, indent=2))
    sys.exit(0 if all(row["pass"] is not False for row in bench.rows) else 1)


main()
