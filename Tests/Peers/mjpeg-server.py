#!/usr/bin/python3
"""Motion JPEG over HTTP (multipart/x-mixed-replace) like a camera's, with live timecode pictures. See README.md."""

import base64
import fractions
import http.server
import subprocess
import threading
import time

import peer
import timecode


class Pictures:
    """The newest JPEG, encoded by ffmpeg."""

    def __init__(self, options):
        self.options = options
        self.changed = threading.Condition()
        self.newest, self.number = b"", 0
        self.is_stopped = False
        self.child = peer.spawn(
            ["ffmpeg", "-hide_banner", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p",
             "-video_size", options.size, "-framerate", options.fps, "-i", "pipe:0", "-vf", "scale=out_range=full",
             "-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-threads", "1", "-q:v", "3", "-flush_packets", "1",
             "-f", "mpjpeg", "pipe:1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self.draw, daemon=True).start()
        threading.Thread(target=self.read, daemon=True).start()

    def draw(self):
        width, height = (int(side) for side in self.options.size.split("x"))
        rate = float(fractions.Fraction(self.options.fps))
        schedule = timecode.Schedule(rate)
        while True:
            number = schedule.wait()
            self.child.stdin.write(timecode.draw(width, height, number, time.monotonic_ns(), rate))
            self.child.stdin.flush()

    def read(self):
        for line in self.child.stdout:
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
                self.child.stdout.readline()
                picture = self.child.stdout.read(length)
                if self.is_stopped:
                    continue
                with self.changed:
                    self.newest, self.number = picture, self.number + 1
                    self.changed.notify_all()

    def after(self, number):
        """Returns the newest picture as soon as its number differs from this one."""
        with self.changed:
            self.changed.wait_for(lambda: self.number > number)
            return self.newest, self.number


def handler(options, pictures):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if options.password:
                wanted = base64.b64encode(f"{options.user}:{options.password}".encode()).decode()
                if self.headers.get("Authorization") != f"Basic {wanted}":
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="camera"')
                    self.end_headers()
                    return
            self.send_response(200)
            self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={options.boundary}")
            self.end_headers()
            number = 0
            try:
                while True:
                    picture, number = pictures.after(number)
                    length = f"Content-Length: {len(picture)}\r\n" if not options.no_length else ""
                    head = f"--{options.boundary}\r\nContent-Type: image/jpeg\r\n{length}\r\n"
                    self.wfile.write(head.encode() + picture + b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, *_):
            pass

    return Handler


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    parser.add_argument("--size", default="640x480")
    parser.add_argument("--fps", default="30")
    parser.add_argument("--boundary", default="frame")
    parser.add_argument("--no-length", action="store_true",
                        help="omit the Content-Length of pictures, like some cameras")
    parser.add_argument("--user", default="camera")
    parser.add_argument("--password", help="require user and password (basic)")
    options = parser.parse_args()
    pictures = Pictures(options)
    pictures.after(0)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler(options, pictures))
    server.daemon_threads = True
    port = server.server_address[1]
    peer.serve(options, {
        "stop": lambda _: setattr(pictures, "is_stopped", True),
        "resume": lambda _: setattr(pictures, "is_stopped", False),
        "report": lambda _: {"frames": pictures.number},
    }, {"port": port, "url": f"http://127.0.0.1:{port}/video"})
    server.serve_forever()


if __name__ == "__main__":
    main()
