#!/usr/bin/env python3
"""Opens a page in headless Chromium, performs one step after another there, and prints the results as one JSON list.

Usage: page-probe.py URL [--size WxH] [--dark] [--limit SECONDS] [--times] STEP...

A step is `shot:FILE` for a picture of the page, `touch:FILE` to create a file that shows the progress to another
program, or the body of a JavaScript function that is called repeatedly until it returns a value. After a minute the
result is null.
"""
import argparse
import json
import pathlib
import sys
import time

from browser import WEBRTC, Browser


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("steps", nargs="+")
    parser.add_argument("--size", default="1280x900")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--times", action="store_true", help="print on standard error when each step was done")
    parser.add_argument("--limit", type=float, default=40)
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    results, begun = [], time.monotonic()
    with Browser(*WEBRTC, f"--window-size={width},{height}") as browser:
        browser.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}})
        browser.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if options.dark else "light"}]}})
        browser.open(options.url)
        for step in options.steps:
            kind, _, path = step.partition(":")
            if kind == "shot":
                browser.screenshot(path)
            elif kind == "touch":
                pathlib.Path(path).touch()
            else:
                end, found = time.monotonic() + options.limit, None
                while found is None and time.monotonic() < end:
                    found = browser.run(step)
                    if found is None:
                        time.sleep(0.05)
                results.append(found)
                if options.times:
                    print(f"{time.monotonic() - begun:.1f} s: {step[:80]}", file=sys.stderr)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
