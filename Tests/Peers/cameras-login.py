#!/usr/bin/env python3
"""Logs in on the page of inlet serve in headless Chromium by the keyboard, and prints the results as one JSON object.

Usage: cameras-login.py URL TOKEN [SCREENSHOT]

URL is opened without a token. `label`, `type` and `focus` describe the field, `short` and `wrong` are the page's
messages for such tokens. `tiles` is the number of cameras after login with the right token, `address` the page's
address then, `requests` the requested addresses that contain the token, and `again` whether the page asks again after
the cookie is deleted.
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
        # The typed text is selected, and the next input replaces it.
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
