#!/usr/bin/env python3
"""Adds a camera on the page of inlet serve in headless Chromium, by the keyboard, and prints the results as one JSON
object.

Usage: cameras-adding.py URL DEAD SOURCE [SCREENSHOT]

DEAD is the address of a nonexistent camera, SOURCE that of a working one.
"""
import json
import sys

from browser import Browser

ENTER, TAB, ESCAPE, SHIFT = "\ue007", "\ue004", "\ue00c", "\ue008"
FOCUS = "return document.activeElement.id"
# The number of colours in the picture: a black or missing one has only one.
COLOURS = """
const canvas = document.getElementById("tried-picture");
const data = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
return new Set(data).size;
"""


def main():
    url, dead, source = sys.argv[1:4]
    screenshot = sys.argv[4] if len(sys.argv) > 4 else None
    seen = {}
    with Browser("--force-prefers-reduced-motion") as browser:
        until, keys = browser.until, browser.press

        def text(name):
            return f"return document.getElementById('{name}').textContent"

        def fill(name, value):
            browser.run(f"document.getElementById('{name}').value = ''; document.getElementById('{name}').focus()")
            keys(*value)

        def shoot(suffix):
            if screenshot:
                browser.screenshot(screenshot.replace(".png", suffix + ".png"))

        browser.open(url)
        until("return document.querySelectorAll('.tile').length", lambda n: n > 0)
        browser.run("document.getElementById('add').focus()")
        keys(ENTER)
        seen["opened"] = until("return document.getElementById('adding').open", bool)
        seen["first"] = browser.run(FOCUS)
        # The focus stays in the dialog, forwards and backwards.
        ring = []
        for _ in range(9):
            keys(TAB)
            ring.append(browser.run(FOCUS))
        browser.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": SHIFT}, {"type": "keyDown", "value": TAB}, {"type": "keyUp", "value": TAB},
            {"type": "keyUp", "value": SHIFT}]}]})
        seen["ring"], seen["back"] = ring, browser.run(FOCUS)
        # Every field has a label for screen readers.
        seen["unnamed"] = browser.run(
            "return [...document.querySelectorAll('#adding input')].filter(i => !i.labels.length).length")

        browser.run("document.getElementById('search').click()")
        seen["found"] = until("return [...document.querySelectorAll('#found button')].map(b => b.firstChild.data)",
                              lambda all: len(all) > 0)
        browser.run("document.querySelector('#found button').focus()")
        keys(ENTER)
        seen["chosen"] = browser.run("return ['new-name', 'new-source'].map(id => document.getElementById(id).value)")
        shoot("")

        fill("new-name", "Front Door")
        keys(ENTER)
        seen["wrongName"] = browser.run("return document.getElementById('new-name').getAttribute('aria-invalid')")
        fill("new-name", "new-door")
        fill("new-source", dead)
        keys(ENTER)
        seen["error"] = until(text("adding-error"), bool)
        seen["without"] = until(text("save"), lambda t: t != "Save")
        fill("new-source", source)
        keys(ENTER)
        seen["shown"] = until("return !document.getElementById('tried').hidden", bool)
        seen["facts"] = browser.run(text("tried-facts"))
        seen["colours"] = browser.run(COLOURS)
        shoot("-tried")
        keys(ESCAPE)
        seen["closed"] = not until("return document.getElementById('adding').open", lambda o: not o)
        seen["focus"] = browser.run(FOCUS)
        names = "return [...document.querySelectorAll('.tile .name')].map(n => n.textContent)"
        seen["before"] = browser.run(names)

        keys(ENTER)
        until("return document.getElementById('adding').open", bool)
        seen["empty"] = browser.run("return document.getElementById('new-source').value === ''")
        fill("new-name", "new-door")
        fill("new-source", source)
        keys(ENTER)
        # The picture has arrived, and Enter saves the camera.
        until(FOCUS, lambda name: name == "save")
        keys(ENTER)
        seen["after"] = until(names, lambda all: len(all) > len(seen["before"]))
        seen["tile"] = until("return document.activeElement.ariaLabel || ''", bool)
        browser.call("POST", "/window/rect", {"width": 500, "height": 800})
        browser.run("document.getElementById('add').click()")
        seen["overflow"] = browser.run("return document.getElementById('adding').scrollWidth > innerWidth")
        shoot("-phone")
        print(json.dumps(seen))


main()
