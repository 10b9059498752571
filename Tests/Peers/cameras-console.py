#!/usr/bin/env python3
"""Uses pages of inlet serve in headless Chromium, and prints as one JSON object, for each page, what its console shows
above "info", and its requests outside the page's folder.

Usage: cameras-console.py URL TOKEN CAMERA BROKEN EMPTY [PLAYER]

URL is the address of the page, opened without a token: `login`. TOKEN is typed there, and the page of all cameras
follows: `grid`. CAMERA is opened there, and BROKEN, a camera that cannot be opened: `camera`, `broken`. EMPTY is the
address of a page without cameras, with its token in the query: `empty`. PLAYER is the address of the page of `webrtc:`:
`player`. `shown` has a text of each page, which proves that the page worked.
"""
import json
import sys
import time

from browser import WEBRTC, Browser

ENTER, ESCAPE = "\ue007", "\ue00c"
TILES = "return document.querySelectorAll('.tile').length"
PICTURES = "return [...document.querySelectorAll('.tile img')].filter(i => !i.hidden && i.naturalWidth > 0).length"
OPEN = "[...document.querySelectorAll('.tile')].find(t => t.ariaLabel.startsWith(arguments[0] + ',')).focus()"
VIDEO = "return document.getElementById('video')?.videoWidth > 0"


def main():
    url, token, camera, broken, empty = sys.argv[1:6]
    player = sys.argv[6] if len(sys.argv) > 6 else None
    result = {}

    def take():
        """Returns the messages and the requests since the last call."""
        errors = [entry["message"] for entry in browser.log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
        return errors, [each["params"]["request"]["url"] for each in messages
                        if each["method"] == "Network.requestWillBeSent"]

    def note(name, shown, base):
        # Pages ask again now and then; errors of that are of the page, too.
        time.sleep(2)
        errors, requests = take()
        own = (base, "blob:", "data:", "about:", "chrome:")
        result[name] = {"errors": errors, "requests": len(requests), "shown": shown,
                        "outside": [each for each in requests if not each.startswith(own)]}

    with Browser(*WEBRTC, logs=("browser", "performance")) as browser:
        browser.open(url)
        browser.until("return document.getElementById('token') !== null", bool)
        note("login", browser.run("return document.querySelector('label').textContent"), url)
        browser.press(*token, ENTER)
        browser.until(TILES, lambda count: count > 0)
        note("grid", str(browser.until(PICTURES, bool)), url)
        for name, opened in (("camera", camera), ("broken", broken)):
            browser.run(OPEN, opened)
            browser.press(ENTER)
            beginning = "Shown " if name == "camera" else "The camera is "
            text = browser.until(
                "return document.getElementById('way').textContent", lambda text: text.startswith(beginning))
            note(name, text, url)
            browser.press(ESCAPE)
            browser.until("return document.getElementById('detail').open", lambda is_open: not is_open)
        # The first page ends its streams when it is left.
        browser.call("POST", "/url", {"url": "about:blank"})
        time.sleep(1)
        take()
        browser.open(empty)
        browser.until("return document.readyState", lambda state: state == "complete")
        note("empty", browser.run("return document.body.innerText"), empty.partition("?")[0])
        if player:
            browser.open(player)
            note("player", str(browser.until(VIDEO, bool)), player)
    print(json.dumps(result))


main()
