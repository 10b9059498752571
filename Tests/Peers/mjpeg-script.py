#!/usr/bin/env python3
"""Motion JPEG and still pictures like those of cameras that follow no standard, over HTTP or plain TCP. See README.md.

Each connection receives the same pictures repeatedly, from the first one on. They are files in a folder.
"""

import os
import socketserver
import subprocess
import threading
import time

import peer

BOUNDARY = b"camera"


class Pictures:
    """JPEGs made by ffmpeg, also as files."""

    def __init__(self, options):
        self.folder = os.path.join(peer.folder(), "pictures")
        os.mkdir(self.folder)
        subprocess.run(
            ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-f", "lavfi", "-i",
             f"testsrc2=size={options.size}:rate=25", "-frames:v", str(options.pictures), "-pix_fmt", "yuvj420p",
             "-q:v", "5", os.path.join(self.folder, "%03d.jpg")], check=True)
        self.all = []
        for number in range(options.pictures):
            with open(os.path.join(self.folder, f"{number + 1:03}.jpg"), "rb") as file:
                self.all.append(file.read())


def with_previews(picture, preview):
    """Returns a picture with a second one in a segment at its beginning and a third one after its end."""
    segment = b"Exif\0\0" + preview
    return picture[:2] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment + picture[2:] + preview


def part(framing, number, pictures):
    """Returns the bytes of a part, from its boundary to its last line end."""
    picture, end = pictures[number % len(pictures)], b"\r\n"
    before, boundary = b"", b"--" + BOUNDARY + b"\r\n"
    fields = {b"Content-Type": b": image/jpeg", b"Content-Length": b": %d" % len(picture)}
    if framing == "no-first-boundary" and number == 0:
        boundary = b""
    elif framing == "no-boundary":
        boundary = b""
    elif framing == "two-boundaries":
        boundary *= 2
    elif framing == "no-colon":
        fields[b"X-Timestamp"] = b" 1700000000"
    elif framing == "no-type":
        del fields[b"Content-Type"]
    elif framing == "image-jpg":
        fields[b"Content-Type"] = b": image/jpg"
    elif framing == "no-fields":
        fields = {}
    elif framing == "short-length":
        fields[b"Content-Length"] = b": %d" % (len(picture) - 100)
    elif framing == "long-length":
        fields[b"Content-Length"] = b": %d" % (len(picture) + 5000)
    elif framing == "other-boundary":
        boundary = b"--other\r\n"
    elif framing == "preamble":
        before = b"This part is ignored.\r\n" * 200 if number == 0 else b""
    elif framing == "no-end":
        picture = picture[:-2]
        fields[b"Content-Length"] = b": %d" % len(picture)
    elif framing == "previews":
        picture = with_previews(picture, pictures[-1])
        fields[b"Content-Length"] = b": %d" % len(picture)
    elif framing in ("cut", "cut-length", "cut-raw") and number % 3 == 2:
        picture = picture[:len(picture) // 2]
        if framing == "cut-length":
            fields[b"Content-Length"] = b": %d" % len(picture)
    elif framing == "other-parts":
        before = boundary + b"Content-Type: text/plain\r\nContent-Length: 7\r\n\r\nmotion!\r\n"
    if framing in ("raw", "raw-image", "cut-raw"):
        return picture
    head = b"".join(name + value + b"\r\n" for name, value in fields.items())
    made = before + boundary + head + b"\r\n" + picture + end
    if framing == "line-feeds":
        made = (boundary + head).replace(b"\r\n", b"\n") + b"\n" + picture + b"\n"
    return made


FRAMINGS = ["plain", "no-first-boundary", "no-boundary", "two-boundaries", "no-colon", "no-type", "image-jpg",
            "no-fields", "short-length", "long-length", "other-boundary", "preamble", "no-end", "previews", "cut",
            "cut-length", "cut-raw", "other-parts", "line-feeds", "small-pieces", "raw", "raw-image", "nothing"]


class Camera:
    def __init__(self, options):
        self.options, self.pictures = options, Pictures(options)
        self.requests, self.lock = [], threading.Lock()

    def stream(self, connection):
        options = self.options
        number = 0
        while not options.end or number < options.end:
            if options.framing == "nothing":
                made = b"--" + BOUNDARY + b"\r\nContent-Type: image/png\r\n\r\n" + b"\x89PNG" * 100_000 + b"\r\n"
            else:
                made = part(options.framing, number, self.pictures.all)
            if options.framing == "small-pieces" and number < 3:
                for at in range(0, len(made), 11):
                    connection.sendall(made[at:at + 11])
                    time.sleep(0.0002)
            else:
                connection.sendall(made)
            number += 1
            if options.framing != "nothing":
                time.sleep(1 / 50)

    def still(self, fields):
        """Returns the answer to a request for the still picture. The picture changes after a number of requests."""
        with self.lock:
            shown = len(self.requests) // self.options.change
            tag, modified = f'"{shown}"', f"Sat, 01 Jan 2000 00:00:{shown % 60:02} GMT"
            kind = self.options.validators
            conditions = {"etag": ("if-none-match", tag), "modified": ("if-modified-since", modified)}
            name, value = conditions.get(kind, ("", ""))
            is_known = bool(name) and fields.get(name) == value
            status = 304 if is_known else 200
            self.requests.append({"status": status, "isConditional": bool(name) and name in fields,
                                  "hasRange": "range" in fields})
            is_page = 0 < self.options.page_after < len(self.requests)
        if is_page:
            page = b"<html><body>Your session has expired.</body></html>"
            return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page) + page, True
        stated = {"etag": f"ETag: {tag}\r\n", "modified": f"Last-Modified: {modified}\r\n"}.get(kind, "")
        picture = self.pictures.all[shown % len(self.pictures.all)]
        if is_known:
            return f"HTTP/1.1 304 Not Modified\r\n{stated}\r\n".encode(), True
        length = "" if self.options.no_length else f"Content-Length: {len(picture)}\r\nAccept-Ranges: bytes\r\n"
        closing = "Connection: close\r\n" if self.options.no_length else ""
        kind = f"Content-Type: {self.options.type}\r\n" if self.options.type else ""
        return f"HTTP/1.1 200 OK\r\n{kind}{length}{closing}{stated}\r\n".encode() + picture, not self.options.no_length

    def serve(self, handler):
        options = self.options
        if options.carrier == "tcp":
            return self.stream(handler.request)
        while True:
            first = handler.rfile.readline()
            if not first:
                return None
            fields = {}
            while (line := handler.rfile.readline().decode("latin-1").strip()):
                name, _, value = line.partition(":")
                fields[name.lower()] = value.strip()
            if options.still:
                answer, goes_on = self.still(fields)
                handler.request.sendall(answer)
                if not goes_on:
                    return None
                continue
            kind = options.type or {"raw": "video/mjpeg", "cut-raw": "video/mjpeg", "raw-image": "image/jpeg"}.get(
                options.framing, f"multipart/x-mixed-replace; boundary={BOUNDARY.decode()}")
            handler.request.sendall(f"HTTP/1.0 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode())
            return self.stream(handler.request)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads, allow_reuse_address = True, True


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--pictures", type=int, default=12, help="the number of different pictures")
    parser.add_argument("--framing", choices=FRAMINGS, default="plain", help="the framing between pictures")
    parser.add_argument("--carrier", choices=["http", "tcp"], default="http")
    parser.add_argument("--end", type=int, default=0, help="the number of pictures per connection; 0 is endless")
    parser.add_argument("--type", default="", help="the Content-Type of the response")
    parser.add_argument("--still", action="store_true", help="one picture for each request, over HTTP")
    parser.add_argument("--change", type=int, default=1, help="the requests after which the still picture changes")
    parser.add_argument("--validators", choices=["etag", "modified", "none"], default="none",
                        help="the validators for conditional requests of the still picture")
    parser.add_argument("--page-after", type=int, default=0,
                        help="answer with a page instead of the still picture after this many requests; 0 for never")
    parser.add_argument("--no-length", action="store_true", help="omit the still picture's length")
    options = parser.parse_args()
    camera = Camera(options)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            try:
                camera.serve(self)
            except OSError:
                pass

    server = Server(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    peer.serve(options, {"requests": lambda _: {"requests": camera.requests}}, {
        "port": port, "folder": camera.pictures.folder,
        "url": f"{options.carrier}://127.0.0.1:{port}" + ("/snapshot" if options.carrier == "http" else "")})
    server.serve_forever()


if __name__ == "__main__":
    main()
