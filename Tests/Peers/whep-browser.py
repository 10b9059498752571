#!/usr/bin/env python3
"""Opens the page of `webrtc:` in headless Chromium, like a person, and prints the results as one JSON object.

Usage: whep-browser.py URL [--seconds S] [--screenshot FILE] [--bars [--reference FILE]] [--series] [--without CODEC]

Reads the frame numbers that `pattern:timecode` draws, in requestVideoFrameCallback, and measures the time of each
picture since its drawing: the picture contains the CLOCK_MONOTONIC time of its drawing, and performance.timeOrigin is
mapped to the same clock, which is checked by querying the page's time. "presented" ends when the picture is passed to
the compositor, "displayed" when the compositor expects it on the screen. With --bars the picture is that of
`pattern:smpte`: its colours are compared with those of the ffmpeg command's bars, or of a file with one picture of
vertical bars, rgb24. With --series all pictures are listed.
"""
import argparse
import base64
import json
import pathlib
import subprocess
import time

import timecode
from browser import WEBRTC, Browser

LIMIT = 30
WIDTH, HEIGHT = 128, 64
# The picture is scaled down by the browser, and the script gets only the rows that contain bits.
ROWS = HEIGHT * 9 // 16 + 1
WATCH = f"""
const canvas = new OffscreenCanvas({WIDTH}, {HEIGHT}),
      context = canvas.getContext("2d", {{ willReadFrequently: true }});
window.shown = [];
const video = document.getElementById("video");
function look(now, frame) {{
  video.requestVideoFrameCallback(look);
  // The first call may come before the element has a picture to draw from: drawImage then draws nothing, which would be
  // taken for a black picture.
  if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
  context.drawImage(video, 0, 0, {WIDTH}, {HEIGHT});
  const data = context.getImageData(0, 0, {WIDTH}, {ROWS}).data;
  let text = "";
  for (let i = 0; i < data.length; i += 4) text += String.fromCharCode(data[i + 1]);
  window.shown.push([
    frame.presentationTime, frame.expectedDisplayTime, frame.presentedFrames, frame.width, frame.height, btoa(text)]);
}}
video.requestVideoFrameCallback(look);
"""
TAKE = "const taken = window.shown; window.shown = []; return taken;"
POINTS = """
const video = document.getElementById("video"), [points] = arguments;
const canvas = document.createElement("canvas");
canvas.width = video.videoWidth; canvas.height = video.videoHeight;
const context = canvas.getContext("2d");
context.drawImage(video, 0, 0);
return points.map(([x, y]) => Array.from(context.getImageData(x, y, 1, 1).data.slice(0, 3)));
"""
# Runs before the page creates its offer.
WITHOUT = """
const addTransceiver = RTCPeerConnection.prototype.addTransceiver;
RTCPeerConnection.prototype.addTransceiver = function (...all) {
  const added = addTransceiver.apply(this, all);
  const codecs = RTCRtpReceiver.getCapabilities("video").codecs.filter(codec => codec.mimeType !== "video/NAME");
  if (added.receiver.track.kind === "video") added.setCodecPreferences(codecs);
  return added;
};
"""
STATISTICS = """
const done = arguments[arguments.length - 1];
peer.getStats().then(items => { let found = {}, codecs = {};
  items.forEach(item => { if (item.type === "codec") codecs[item.id] = item.mimeType; });
  items.forEach(item => { if (item.type === "inbound-rtp" && item.kind === "video") found = {
    codec: codecs[item.codecId], lost: item.packetsLost,
    received: item.packetsReceived, decoded: item.framesDecoded, dropped: item.framesDropped,
    freezes: item.freezeCount, frozen: item.totalFreezesDuration,
    plis: item.pliCount, nacks: item.nackCount, decoder: item.decoderImplementation,
    buffer: item.jitterBufferDelay / item.jitterBufferEmittedCount, decode: item.totalDecodeTime / item.framesDecoded,
    processing: item.totalProcessingDelay / item.framesDecoded }; });
  done(found); });
"""


def clock(browser):
    """Returns the CLOCK_MONOTONIC nanoseconds at the page's performance.timeOrigin, and the possible error of the
    page's clock."""
    origin = browser.run("return performance.timeOrigin") * 1e6 - (time.time_ns() - time.monotonic_ns())
    checks = []
    for _ in range(20):
        before = time.monotonic_ns()
        now = browser.run("return performance.now()") * 1e6
        after = time.monotonic_ns()
        # The page's time was read between the two.
        checks.append((after - before, max(0, before - origin - now, origin + now - after)))
    return origin, min(checks)


def spread(values):
    values = sorted(values)
    return {
        "p50": values[len(values) // 2], "p95": values[len(values) * 95 // 100], "most": values[-1],
    } if values else None


def drawn_bars(size):
    """Returns ffmpeg's colour bars as rgb24."""
    source, matrix = ("smptehdbars", "bt709") if int(size.split("x")[1]) >= 720 else ("smptebars", "bt601")
    return subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"{source}=size={size}", "-frames:v", "1", "-vf",
         f"scale=in_color_matrix={matrix}:in_range=limited:out_range=full:flags=accurate_rnd+full_chroma_int,"
         "format=rgb24", "-f", "rawvideo", "-"],
        capture_output=True, check=True).stdout


def bars(browser, size, reference):
    """Returns the greatest difference from a picture of colour bars, at points well inside the bars."""
    width, height = map(int, size.split("x"))
    if len(reference) != width * height * 3:
        raise SystemExit(f"what is compared with is no {size} of rgb24")

    def at(x, y):
        return list(reference[(y * width + x) * 3 : (y * width + x) * 3 + 3])

    y = height // 4
    points = [[x, y] for x in range(width // 64, width, width // 32)]
    # Chroma subsampling blurs edges, so points near edges are skipped.
    points = [[x, y] for x, y in points if at(max(0, x - 12), y) == at(x, y) == at(min(width - 1, x + 12), y)]
    seen = browser.call("POST", "/execute/sync", {"script": POINTS, "args": [points]})
    pairs = [(at(*point), color) for point, color in zip(points, seen)]
    return {"points": len(pairs), "colors": len({tuple(want) for want, _ in pairs}),
            "most": max(abs(a - b) for want, got in pairs for a, b in zip(want, got)), "seen": seen,
            "wanted": [want for want, _ in pairs]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=0,
                        help="how long to watch; by default until 20 different numbers were read")
    parser.add_argument("--screenshot")
    parser.add_argument("--bars", action="store_true")
    parser.add_argument("--reference", metavar="FILE", help="with --bars: the reference picture, rgb24")
    parser.add_argument("--series", action="store_true")
    parser.add_argument("--without", help="a codec to omit from the offer, such as H264")
    options = parser.parse_args()
    with Browser("--autoplay-policy=no-user-gesture-required", *WEBRTC) as browser:
        begun = time.monotonic()
        if options.without:
            browser.call("POST", "/goog/cdp/execute", {
                "cmd": "Page.addScriptToEvaluateOnNewDocument",
                "params": {"source": WITHOUT.replace("NAME", options.without)}})
        browser.open(options.url)
        while not browser.run("return document.readyState === 'complete'") and time.monotonic() < begun + LIMIT:
            time.sleep(0.05)
        browser.run(WATCH)
        origin, (trip, error) = clock(browser)
        pictures, size = [], None
        end = time.monotonic() + (options.seconds or LIMIT)
        while time.monotonic() < end:
            time.sleep(0.2)
            for presented, displayed, _, width, height, text in browser.run(TAKE):
                size = f"{width}x{height}"
                luma = base64.b64decode(text).ljust(WIDTH * HEIGHT, b"\0")
                number, drawn = timecode.read(luma, WIDTH, HEIGHT) or (None, None)
                pictures.append((number, drawn, presented * 1e6 + origin, displayed * 1e6 + origin))
            read = [each for each in pictures if each[0] is not None]
            if not options.seconds and (
                    len({each[0] for each in read}) >= 20 or (options.bars and len(pictures) >= 60)):
                break
        # For a picture that was shown twice, the first time counts.
        first = {}
        for each in read:
            first.setdefault(each[0], each)
        kept = list(first.values())
        seen = {
            "first": (pictures[0][2] / 1e9 - begun) if pictures else None, "size": size, "pictures": len(pictures),
            "unread": len(pictures) - len(read), "numbers": [each[0] for each in kept],
            "presented": spread([(each[2] - each[1]) / 1e6 for each in kept]),
            "displayed": spread([(each[3] - each[1]) / 1e6 for each in kept]),
            "clock": {"trip": trip / 1e6, "error": error / 1e6}}
        if options.series:
            seen["series"] = [[number, drawn, round(presented)] for number, drawn, presented, _ in read]
        if options.bars and size:
            reference = pathlib.Path(options.reference).read_bytes() if options.reference else drawn_bars(size)
            seen["bars"] = bars(browser, size, reference)
        if pictures:
            seen["statistics"] = browser.call("POST", "/execute/async", {"script": STATISTICS, "args": []})
        if options.screenshot:
            # The page's own figures are a second old at first.
            time.sleep(2)
            browser.screenshot(options.screenshot)
        # The page shows a gap in the pictures for a moment.
        settles = time.monotonic() + 10
        while (browser.run("return document.getElementById('state').textContent") != "live"
               and time.monotonic() < settles):
            time.sleep(0.1)
        for name in ("state", "trouble"):
            seen[name] = browser.run(f"return document.getElementById('{name}').textContent")
        seen["footer"] = browser.run("return document.querySelector('footer').textContent")
        print(json.dumps(seen))


main()
