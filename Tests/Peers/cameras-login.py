#!/usr/bin/env python3
"""Logs in at the page of inlet serve in headless Chromium by the keyboard, and prints what it saw as one JSON object.

Usage: cameras-login.py URL TOKEN [SCREENSHOT]

URL is opened without a token. `label`, `type` and `focus` are of the field, `short` and `wrong` what the page
says of such tokens, `tiles` how many cameras it shows with the right one, `address` where it is then, `requests` the
addresses that it asked for that hold the token, and `again` whether it asks once more when the cookie is gone.
"""
import json
import sys

from browser import Browser

ERROR = "return document.getElementById('error')?.textContent"
TILES = "return document.querySelectorAll('.tile').length"
ENTER = "\ue007"


def main():
    url, token = sys.argv[1:3]
    seen = {}
    with Browser() as browser:
        browser.open(url)
        browser.until("return document.getElementById('token') !== null", bool)
        field = browser.call("POST", "/element", {"using": "css selector", "value": "#token"})
        path = "/element/" + next(iter(field.values()))
        seen["label"] = browser.call("GET", path + "/computedlabel")
        seen["type"] = browser.run("return document.getElementById('token').type")
        seen["focus"] = browser.run("return document.activeElement.id")
        if len(sys.argv) > 3:
            browser.screenshot(sys.argv[3])
        browser.press(*"short", ENTER)
        seen["short"] = browser.until(ERROR, bool)
        # What was typed is selected, and replaced.
        browser.press(*("x" + token[1:]), ENTER)
        seen["wrong"] = browser.until(ERROR, lambda text: bool(text) and text != seen["short"])
        seen["invalid"] = browser.run("return document.getElementById('token').ariaInvalid")
        browser.press(*token, ENTER)
        seen["tiles"] = browser.until(TILES, lambda count: count > 0)
        seen["address"] = browser.run("return location.href")
        seen["requests"] = browser.run(
            "return performance.getEntries().map(e => e.name).filter(n => n.includes(arguments[0]))", token)
        browser.call("DELETE", "/cookie")
        seen["again"] = browser.until("return document.getElementById('token') !== null", bool)
        print(json.dumps(seen))


main()
