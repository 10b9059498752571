#!/usr/bin/env python3
"""Headless Chromium on the page of `whip:` or of calls, as on a person's phone: its camera is a file with the pictures
of `pattern:timecode`. See README.md.

Commands: start presses Start; look returns the content of the page; press clicks an element; choose sets a select;
screenshot writes a PNG; evaluate returns the result of a script; read returns the frame number of `pattern:timecode` in
a video element, and its size; kill ends the browser at once, like a crash; open starts another. With --page, a file of
this folder is served at the address `page` of the ready line.
"""
import base64
import concurrent.futures
import http.server
import os
import pathlib
import queue
import signal
import threading

import peer
import timecode
from browser import Browser

FPS = 30
# A picture scaled down by the browser. The script gets only the rows that contain bits.
WIDTH, HEIGHT = 128, 64
READ = f"""
const video = document.getElementById(arguments[0]);
if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return null;
const context = new OffscreenCanvas({WIDTH}, {HEIGHT}).getContext("2d");
context.drawImage(video, 0, 0, {WIDTH}, {HEIGHT});
const data = context.getImageData(0, 0, {WIDTH}, {HEIGHT * 9 // 16 + 1}).data;
let text = "";
for (let i = 0; i < data.length; i += 4) text += String.fromCharCode(data[i + 1]);
return [video.videoWidth, video.videoHeight, btoa(text)];
"""


def draw_camera(path, width, height, frames):
    """Writes the camera's file, which Chromium repeats."""
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
        # Only one browser runs at a time: the page of an earlier one would stay active and could take the new one's
        # place in the room.
        if self.browser:
            self.kill(None)
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

    def read(self, message):
        seen = self.browser.run(READ, message["element"])
        if seen is None:
            return {}
        width, height, text = seen
        found = timecode.read(base64.b64decode(text).ljust(WIDTH * HEIGHT, b"\0"), WIDTH, HEIGHT)
        return {"size": f"{width}x{height}", "number": found[0] if found else None}

    def press(self, message):
        self.browser.run("document.getElementById(arguments[0]).click()", message["element"])

    def choose(self, message):
        self.browser.run(
            "const select = document.getElementById(arguments[0]); select.value = arguments[1];"
            "select.dispatchEvent(new Event('change'))", message["element"], message["value"])

    def screenshot(self, message):
        self.browser.screenshot(message["path"])

    def kill(self, _):
        for each in pathlib.Path("/proc").iterdir():
            try:
                if each.name.isdigit() and self.browser.profile.name.encode() in (each / "cmdline").read_bytes():
                    os.kill(int(each.name), signal.SIGKILL)
            except OSError:
                pass
        peer.stop_child(self.browser.driver)
        self.browser = None


def serve_page(path):
    """Serves a file at a free port and returns its address."""
    content = pathlib.Path(path).read_bytes()

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--size", default="640x480", help="the size of the camera's pictures")
    parser.add_argument("--frames", type=int, default=150, help="the number of pictures in the camera's file")
    parser.add_argument("--window", default="390,844", help="the size of the browser's window, by default a phone's")
    parser.add_argument("--flag", action="append", default=[], help="a further flag for the browser")
    parser.add_argument("--page", metavar="FILE", help="a page of this folder to serve")
    options = parser.parse_args()
    phone = Phone(options)
    # The main thread starts browsers, because it lives as long as this process.
    jobs = queue.Queue()

    def aside(work):
        def ask(message):
            job = concurrent.futures.Future()
            jobs.put((job, work, message))
            return job.result()
        return ask

    names = ["open", "start", "look", "evaluate", "read", "press", "choose", "screenshot", "kill"]
    peer.serve(options, {name: aside(getattr(phone, name)) for name in names},
               {"page": serve_page(pathlib.Path(__file__).parent / options.page)} if options.page else {})
    while True:
        job, work, message = jobs.get()
        try:
            job.set_result(work(message))
        except Exception as error:
            job.set_exception(error)


main()
