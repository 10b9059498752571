#!/usr/bin/env python3
"""Opens two cameras on the page of inlet serve in headless Chromium, and prints the results as one JSON object.

Usage: cameras-webrtc.py URL CAMERA OTHER

The script opens CAMERA and reads the frame numbers of `pattern:timecode` in 40 pictures that the browser shows. It then
opens OTHER instead, and CAMERA again while another viewer has its only slot; meanwhile, CAMERA is paused and resumed.
`way`, `other`, `full`, `paused` and `after` are the page's descriptions of how it shows each of them.
"""
import base64
import json
import sys
import time

import timecode
from browser import LIMIT, WEBRTC, Browser

WIDTH, HEIGHT = 128, 64
WATCH = f"""
const canvas = new OffscreenCanvas({WIDTH}, {HEIGHT}),
      context = canvas.getContext("2d", {{ willReadFrequently: true }});
window.shown = [];
const video = document.getElementById("video");
function look() {{
  video.requestVideoFrameCallback(look);
  // Before the element has a picture, drawImage draws nothing.
  if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
  context.drawImage(video, 0, 0, {WIDTH}, {HEIGHT});
  const data = context.getImageData(0, 0, {WIDTH}, {HEIGHT}).data;
  let text = "";
  for (let i = 0; i < data.length; i += 4) text += String.fromCharCode(data[i + 1]);
  window.shown.push(btoa(text));
}}
video.requestVideoFrameCallback(look);
"""
TAKE = "const taken = window.shown; window.shown = []; return taken;"
# A second viewer in the same page. It takes a camera's slot and shows nothing.
HOLD = """
const [path] = arguments;
(async () => {
  window.holder = new RTCPeerConnection();
  window.holder.addTransceiver("video", { direction: "recvonly" });
  await window.holder.setLocalDescription();
  const answer = await fetch(path, { method: "POST", headers: { "content-type": "application/sdp" },
    body: window.holder.localDescription.sdp });
  window.held = answer.headers.get("location");
})();
"""
LET_GO = "fetch(window.held, { method: 'DELETE' }); window.holder.close();"
WAY = "return document.getElementById('way').textContent"


def open_camera(browser, name):
    tile = f"[...document.querySelectorAll('.tile')].find(t => t.ariaLabel?.startsWith('{name},'))"
    browser.until(f"return {tile} !== undefined", bool)
    browser.run(f"{tile}.click()")
    return browser.until(WAY, lambda text: text.startswith("Shown "))


def close(browser):
    browser.run("document.getElementById('close').click()")


def main():
    url, camera, other = sys.argv[1:]
    seen = {"unread": 0}
    with Browser("--autoplay-policy=no-user-gesture-required", *WEBRTC) as browser:
        browser.open(url)
        seen["way"] = open_camera(browser, camera)
        browser.run(WATCH)
        numbers, end = [], time.monotonic() + LIMIT
        while len(numbers) < 40 and time.monotonic() < end:
            time.sleep(0.2)
            for text in browser.run(TAKE):
                found = timecode.read(base64.b64decode(text), WIDTH, HEIGHT)
                if found is None:
                    seen["unread"] += 1
                elif not numbers or found[0] != numbers[-1]:
                    numbers.append(found[0])
        seen["numbers"] = numbers
        close(browser)
        seen["other"] = open_camera(browser, other)
        close(browser)
        # The free slot is for the other viewer, not for the camera's tile.
        browser.run("document.getElementById('moving').click()")
        browser.run(HOLD, f"/v1/cameras/{camera}/whep")
        browser.until("return typeof window.held === 'string'", bool)
        seen["full"] = open_camera(browser, camera)
        browser.run(LET_GO)
        browser.until(WAY, lambda text: text == "Shown by WebRTC.")
        browser.run("document.getElementById('pause').click()")
        seen["paused"] = browser.until(WAY, lambda text: text.startswith("Shown as JPEGs."))
        browser.run("document.getElementById('pause').click()")
        seen["after"] = browser.until(WAY, lambda text: text == "Shown by WebRTC.")
        close(browser)
        # The dialog's event comes after its click.
        seen["closed"] = browser.until("return document.getElementById('video').srcObject === null", bool)
        print(json.dumps(seen))


main()
