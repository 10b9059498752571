#!/usr/bin/env python3
"""Looks at a preview page in headless Chromium, as a person would, and prints what it saw as one JSON object.

Usage: preview-browser.py URL [SCREENSHOT]

The picture is drawn on a canvas until its pixels differ, and the figures are read until they differ.
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
    """The first thing read, or what is taken for it, and the next that differs from it."""
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
