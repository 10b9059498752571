#!/usr/bin/python3
"""Headless Chromium that plays a live HLS playlist by itself, in a plain <video>. See README.md."""

import threading
import urllib.parse

import peer
from browser import Browser

# Restarts playback after an error, as a page would, and counts the restarts.
PLAY = """
document.body.innerHTML = "<video muted autoplay></video>";
const video = window.video = document.querySelector("video");
window.reloads = 0;
window.trouble = "";
video.addEventListener("error", () => {
    window.trouble = video.error.code + " " + video.error.message;
    window.reloads += 1;
    setTimeout(() => { video.load(); video.play().catch(() => {}); }, 200);
});
video.src = arguments[0];
video.play().catch(() => {});
"""
LOOK = """
const video = window.video, canvas = document.createElement("canvas");
canvas.width = 64; canvas.height = 48;
const context = canvas.getContext("2d");
context.drawImage(video, 0, 0, 64, 48);
let sum = 0;
for (const byte of context.getImageData(0, 0, 64, 48).data) sum = (sum * 31 + byte) | 0;
return {seconds: video.currentTime, width: video.videoWidth, pixels: sum,
        reloads: window.reloads, trouble: window.trouble};
"""


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--playlist", required=True,
                        help="URL of the playlist, on a server that answers other paths with a page, even a 404")
    options = parser.parse_args()
    with Browser("--autoplay-policy=no-user-gesture-required", spawn=peer.spawn) as browser:
        # A page of the same server: otherwise the canvas would deny access to its pixels.
        browser.open(urllib.parse.urljoin(options.playlist, "/none"))
        browser.run(PLAY, options.playlist)
        peer.serve(options, {"look": lambda _: browser.run(LOOK)}, {})
        threading.Event().wait()


if __name__ == "__main__":
    main()
