#!/usr/bin/env python3
"""Uses a preview page in headless Chromium, as a person would, and prints the results as one JSON object.

Usage: preview-browser.py URL [SCREENSHOT]

The script draws the picture on a canvas until its pixels differ, and reads the figures until they differ.
"""
import json
import os
import sys
import time

from browser import LIMIT, Browser

PICTURE = """
const picture = document.getElementById("picture"), canvas = document.createElement("canvas");
if (!picture.naturalWidth) return null;
canvas.width = 64; canvas.height = 36;
const context = canvas.getContext("2d");
context.drawImage(picture, 0, 0, 64, 36);
return Array.from(context.getImageData(0, 0, 64, 36).data).join();
"""


def until_changed(read, first=None):
    """Returns the first value (`first` if it is given) and the next value that differs from it, or None after a
    timeout."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        now = read()
        if first is None:
            first = now
        elif now is not None and now != first:
            return first, now
        time.sleep(0.05)
    return first, None


def main():
    url, screenshot = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    with Browser() as browser:
        browser.open(url)

        def text(element):
            return browser.run(f"return document.getElementById('{element}').textContent")

        pictures = until_changed(lambda: browser.run(PICTURE))
        captured = until_changed(lambda: (lambda t: None if t == "-" else t)(text("captured")))
        lines = until_changed(
            lambda: browser.run("return document.querySelectorAll('#graph polyline').length"), first=0)
        if screenshot:
            time.sleep(float(os.environ.get("PREVIEW_LOOK", "0")))
            browser.screenshot(screenshot)
        print(json.dumps({
            "moves": pictures[1] is not None, "captured": captured, "lines": lines[1], "state": text("state"),
            "source": text("source"), "sinks": browser.run("return document.querySelectorAll('#sinks tr').length")}))


main()
