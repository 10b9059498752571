#!/usr/bin/env python3
"""Uses the page of inlet serve in headless Chromium, as a person would, and prints the results as one JSON object.

Usage: cameras-browser.py URL CAMERA [SCREENSHOT]

The script waits until each camera in the grid has a picture. It opens CAMERA only by the keyboard and draws its live
picture on a canvas until the pixels differ. It then pauses and resumes the camera, and closes it by Escape. Finally it
makes the window as narrow as a phone. With SCREENSHOT, it writes a picture of the grid there, and one of the camera
next to it.
"""
import json
import sys

from browser import WEBRTC, Browser

PICTURES = "return [...document.querySelectorAll('.tile img')].filter(i => !i.hidden && i.naturalWidth > 0).length"
LIVE = """
const picture = ["live", "video"].map(id => document.getElementById(id)).find(each => !each.hidden);
const canvas = document.createElement("canvas");
if (!picture || !(picture.naturalWidth || picture.videoWidth)) return null;
canvas.width = 64; canvas.height = 36;
const context = canvas.getContext("2d");
context.drawImage(picture, 0, 0, 64, 36);
return Array.from(context.getImageData(0, 0, 64, 36).data).join();
"""


# The lowest contrast of text to what is behind it (WCAG 2.2, 1.4.3), and how light the page is.
CONTRAST = """
const light = colour => {
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
    .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const behind = e => {
  for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (!/^rgba.*, 0\\)$/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
const texts = "h1, h2, h3, dt, dd, label, input, button.small, a.small, time, .state, .name, .facts, .note, .help, "
  + ".error, .scale, .events li, #summary, #message, #source, #failure, #hour-text";
return [Math.min(...[...document.querySelectorAll(texts)].map(e => {
  const [one, other] = [light(getComputedStyle(e).color), light(behind(e))];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
})), light(getComputedStyle(document.body).backgroundColor)];
"""


def main():
    url, camera, screenshot = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
    seen = {}
    with Browser("--force-prefers-reduced-motion", *WEBRTC) as browser:
        browser.open(url)
        count = browser.until("return document.querySelectorAll('.tile').length", lambda n: n > 0)
        seen["tiles"] = count
        live = "return [...document.querySelectorAll('.tile .state')].filter(s => s.textContent === 'live').length"
        seen["live"] = browser.until(live, lambda n: n >= 2)
        seen["pictures"] = browser.until(PICTURES, lambda n: n >= seen["live"])
        seen["summary"] = browser.run("return document.getElementById('summary').textContent")
        seen["labels"] = browser.run("return [...document.querySelectorAll('.tile')].map(t => t.ariaLabel)")
        seen["address"] = browser.run("return location.href")
        if screenshot:
            browser.screenshot(screenshot)
        browser.run(f"[...document.querySelectorAll('.tile')].find(t => t.ariaLabel.startsWith('{camera},')).focus()")
        browser.press("\ue007")
        seen["opened"] = browser.until("return document.getElementById('detail').open", bool)
        first = browser.until(LIVE, bool)
        seen["moves"] = browser.until(LIVE, lambda now: now is not None and now != first) != first
        seen["way"] = browser.until(
            "return document.getElementById('way').textContent", lambda t: t.startswith("Shown "))
        seen["delay"] = browser.until("return document.getElementById('delay').textContent", lambda t: t != "-")
        seen["history"] = browser.until("return document.getElementById('hour-text').textContent", bool)
        seen["drawn"] = browser.run("return document.querySelectorAll('#graph path.rate').length")
        if screenshot:
            browser.screenshot(screenshot.replace(".png", "-one.png"))
        # Events from before the page was opened.
        seen["past"] = browser.until("return document.querySelectorAll('#events li').length", lambda n: n > 0)
        browser.run("document.getElementById('pause').click()")
        state = "return document.getElementById('state').textContent"
        seen["paused"] = browser.until(state, lambda t: t == "paused")
        browser.run("document.getElementById('pause').click()")
        seen["resumed"] = browser.until(state, lambda t: t == "live")
        seen["events"] = browser.until(
            "return document.querySelectorAll('#events li').length", lambda n: n > seen["past"])
        browser.press("\ue00c")
        seen["closed"] = not browser.until("return document.getElementById('detail').open", lambda o: not o)
        seen["focus"] = browser.run("return document.activeElement.ariaLabel || ''")
        for scheme in ("light", "dark"):
            wanted = {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": wanted})
            seen[scheme] = browser.run(CONTRAST)
        browser.call("POST", "/window/rect", {"width": 500, "height": 800})
        seen["overflow"] = browser.run("return document.documentElement.scrollWidth > innerWidth")
        if screenshot:
            browser.screenshot(screenshot.replace(".png", "-phone.png"))
        print(json.dumps(seen))


main()
