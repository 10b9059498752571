#!/usr/bin/env python3
"""Checks the tiles on the page of inlet serve in headless Chromium, and prints the results as one JSON object.

Usage: cameras-grid.py [--jpegs] URL LIVE ASLEEP CAMERA...

LIVE is the number of tiles that should have a stream at the same time when all CAMERAs are in view. `way` is the kind
of the streams, `live` their number, and `pictures` the number of different pictures in two seconds in each tile with a
stream and in each of the others. `streams` tells whether the daemon counts the same streams. `asleep` is the state of
ASLEEP, a camera on demand, after enough time to close. The script makes the window small, scrolls it, opens another tab
and opens a camera: `above`, `scrolled`, `hidden`, `back` and `opened` are the daemon's counts of the cameras' viewers
at these times. With --jpegs the browser sends no requests for WebRTC.
"""
import json
import sys
import time
import urllib.parse
import urllib.request

from browser import LIMIT, WEBRTC, Browser

TILES = """
const seen = {};
for (const tile of document.querySelectorAll(".tile")) {
  const over = tile.querySelector("video.over:not([hidden]), img.over:not([hidden])");
  const box = tile.getBoundingClientRect();
  seen[tile.querySelector(".name").textContent] = {
    way: !over ? null : over.tagName === "VIDEO" ? "webrtc" : "jpegs",
    live: Boolean(over && (over.videoWidth || over.naturalWidth)),
    inView: box.bottom > 0 && box.top < innerHeight };
}
return seen;
"""
# Counts the different pictures in each tile.
WATCH = """
window.pictures = {};
const context = new OffscreenCanvas(64, 36).getContext("2d", { willReadFrequently: true });
clearInterval(window.watch);
window.watch = setInterval(() => {
  for (const tile of document.querySelectorAll(".tile")) {
    const name = tile.querySelector(".name").textContent;
    const shown = [...tile.querySelectorAll("video, img")].reverse()
      .find(each => !each.hidden && (each.videoWidth || each.naturalWidth));
    if (!shown) continue;
    context.drawImage(shown, 0, 0, 64, 36);
    const text = String.fromCharCode(...context.getImageData(0, 0, 64, 36).data);
    (window.pictures[name] ||= new Set()).add(text);
  }
}, 40);
"""
COUNT = """
clearInterval(window.watch);
return Object.fromEntries(Object.entries(window.pictures).map(([name, all]) => [name, all.size]));
"""


class Daemon:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.base = f"{parts.scheme}://{parts.netloc}"
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]

    def cameras(self):
        request = urllib.request.Request(
            self.base + "/v1/cameras", headers={"authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return {each["name"]: each for each in json.load(answer)["cameras"]}

    def viewers(self):
        return {name: each["viewers"] for name, each in self.cameras().items()}

    def until(self, wanted, limit=LIMIT):
        """Returns the number of viewers of each camera as soon as it is the wanted one; after a timeout, returns the
        last one."""
        end = time.monotonic() + limit
        while True:
            viewers = self.viewers()
            if wanted(viewers) or time.monotonic() > end:
                return viewers
            time.sleep(0.1)


def live(tiles):
    return [name for name, tile in tiles.items() if tile["live"]]


def pictures(browser, streams):
    """Returns two numbers of different pictures within two seconds: the lowest of a tile with a stream, and the highest
    of any other tile."""
    browser.run(WATCH)
    time.sleep(2)
    counts = browser.run(COUNT)
    others = [count for name, count in counts.items() if name not in streams]
    return [min(counts.get(name, 0) for name in streams), max(others, default=0)]


def main():
    arguments = [each for each in sys.argv[1:] if each != "--jpegs"]
    url, most, asleep, cameras = arguments[0], int(arguments[1]), arguments[2], arguments[3:]
    daemon, seen = Daemon(url), {}
    with Browser("--autoplay-policy=no-user-gesture-required", *WEBRTC) as browser:
        browser.call("POST", "/window/rect", {"width": 1500, "height": 1300})
        if "--jpegs" in sys.argv:
            for command, wanted in [("Network.enable", {}), ("Network.setBlockedURLs", {"urls": ["*/whep*"]})]:
                browser.call("POST", "/goog/cdp/execute", {"cmd": command, "params": wanted})
        browser.open(url)
        browser.until(TILES, lambda tiles: len(live(tiles)) >= most)
        # Gives further streams time to open.
        time.sleep(3)
        tiles = browser.run(TILES)
        streams = live(tiles)
        seen["inView"] = sum(tiles[name]["inView"] for name in cameras)
        seen["live"] = len(streams)
        seen["way"] = sorted({tiles[name]["way"] for name in streams})
        end = time.monotonic() + LIMIT
        while True:
            seen["pictures"] = pictures(browser, streams)
            if seen["pictures"][0] >= 10 or time.monotonic() > end:
                break
        viewers = daemon.until(lambda v: all(v[name] == (name in streams) for name in v))
        seen["streams"] = [name for name, count in viewers.items() if count > 0] == streams
        # The tile of a camera on demand does not keep it open.
        end = time.monotonic() + LIMIT
        while daemon.cameras()[asleep]["state"] != "unwatched" and time.monotonic() < end:
            time.sleep(0.2)
        time.sleep(3)
        seen["asleep"] = daemon.cameras()[asleep]["state"]
        # A small window holds two tiles, fewer than the JPEG limit.
        browser.call("POST", "/window/rect", {"width": 500, "height": 560})
        first, last = cameras[0], cameras[-1]
        browser.run("scrollTo(0, 0)")
        browser.until(TILES, lambda tiles: first in live(tiles) and last not in live(tiles))
        seen["above"] = [daemon.until(lambda v: v[first] == 1 and v[last] == 0)[name] for name in (first, last)]
        browser.run("scrollTo(0, document.documentElement.scrollHeight)")
        browser.until(TILES, lambda tiles: last in live(tiles))
        seen["scrolled"] = [daemon.until(lambda v: v[first] == 0 and v[last] == 1)[name] for name in (first, last)]
        # Another tab hides the page.
        page = browser.call("GET", "/window")
        tab = browser.call("POST", "/window/new", {"type": "tab"})["handle"]
        browser.call("POST", "/window", {"handle": tab})
        seen["hidden"] = sum(daemon.until(lambda v: sum(v.values()) == 0, 20).values())
        browser.call("DELETE", "/window")
        browser.call("POST", "/window", {"handle": page})
        seen["back"] = daemon.until(lambda v: v[last] == 1)[last]
        # An open camera has a stream, and the tiles have none.
        browser.run(f"[...document.querySelectorAll('.tile')].find(t => t.ariaLabel.startsWith('{last},')).click()")
        browser.until("return document.getElementById('way').textContent", lambda text: text.startswith("Shown "))
        opened = daemon.until(lambda v: sum(v.values()) == 1 and v[last] == 1)
        seen["opened"] = [opened[last], sum(opened.values())]
        browser.run("document.getElementById('close').click()")
        browser.until(TILES, lambda tiles: last in live(tiles))
        # With motion turned off, tiles show snapshots.
        browser.run("document.getElementById('moving').click()")
        seen["still"] = live(browser.until(TILES, lambda tiles: not live(tiles)))
        print(json.dumps(seen))


main()
