#!/usr/bin/env python3
"""Headless Chromium at the page of `whip:` or of calls, as a person's phone: its camera is a file with the pictures of
`pattern:timecode`. See README.md.

Commands: start presses Start; look tells what the page shows; press clicks an element; choose sets a select; screenshot
writes a PNG; evaluate returns what a script does; kill ends the browser at once, as a crash would; open starts another.
"""
import base64
import concurrent.futures
import os
import pathlib
import queue
import signal

import peer
import timecode
from browser import Browser

FPS = 30


def draw_camera(path, width, height, frames):
    """Writes the camera's file, which Chromium plays again and again."""
    with open(path, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F{FPS}:1 Ip A1:1 C420jpeg\n".encode())
        for number in range(frames):
            file.write(b"FRAME\n" + timecode.draw(width, height, number, 0, FPS))


class Phone:
    def __init__(self, options):
        self.options = options
        self.file = str(pathlib.Path(peer.folder()) / "camera.y4m")
        width, height = map(int, options.size.split("x"))
        draw_camera(self.file, width, height, options.frames)
        self.browser = None

    def open(self, message):
        flags = ["--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={self.file}",
                 f"--window-size={self.options.window}", *self.options.flag]
        if not message.get("isRefused"):
            flags.append("--use-fake-ui-for-media-stream")
        else:
            flags.append("--deny-permission-prompts")
        self.browser = Browser(*flags, spawn=peer.spawn)
        self.browser.__enter__()
        self.browser.open(message["url"])

    def start(self, _):
        self.browser.run("document.getElementById('start').click()")

    def look(self, _):
        state, trouble, facts, cameras, width, pressed = self.browser.run(
            "const get = id => document.getElementById(id);"
            "return [get('state').textContent, get('trouble').textContent, get('facts').textContent,"
            "[...get('camera').options].map(each => each.text), document.documentElement.scrollWidth,"
            "get('hide').getAttribute('aria-pressed')]")
        return {"state": state, "trouble": trouble, "facts": facts, "cameras": cameras, "width": width,
                "isHidden": pressed == "true"}

    def evaluate(self, message):
        return {"value": self.browser.run(message["script"])}

    def press(self, message):
        self.browser.run("document.getElementById(arguments[0]).click()", message["element"])

    def choose(self, message):
        self.browser.run(
            "const select = document.getElementById(arguments[0]); select.value = arguments[1];"
            "select.dispatchEvent(new Event('change'))", message["element"], message["value"])

    def screenshot(self, message):
        pathlib.Path(message["path"]).write_bytes(base64.b64decode(self.browser.call("GET", "/screenshot")))

    def kill(self, _):
        for each in pathlib.Path("/proc").iterdir():
            try:
                if each.name.isdigit() and self.browser.profile.name.encode() in (each / "cmdline").read_bytes():
                    os.kill(int(each.name), signal.SIGKILL)
            except OSError:
                pass
        peer.stop_child(self.browser.driver)


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--size", default="640x480", help="of the camera's pictures")
    parser.add_argument("--frames", type=int, default=150, help="of the camera's file")
    parser.add_argument("--window", default="390,844", help="of the browser, as of a phone")
    parser.add_argument("--flag", action="append", default=[], help="another of the browser's")
    options = parser.parse_args()
    phone = Phone(options)
    # A browser is started by the thread that lives as long as this process.
    jobs = queue.Queue()

    def aside(work):
        def ask(message):
            job = concurrent.futures.Future()
            jobs.put((job, work, message))
            return job.result()
        return ask

    names = ["open", "start", "look", "evaluate", "press", "choose", "screenshot", "kill"]
    peer.serve(options, {name: aside(getattr(phone, name)) for name in names}, {})
    while True:
        job, work, message = jobs.get()
        try:
            job.set_result(work(message))
        except Exception as error:
            job.set_exception(error)


main()
