#!/usr/bin/env python3
"""A gallery of hostile clients against the web server of `preview:`, `webrtc:` or `inlet serve`, each for some seconds.
Prints the results as one JSON object. Needs only Python, and ffmpeg for `serve`.

Usage: http-hostile.py preview|webrtc|serve [--inlet PROGRAM] [--seconds S] [--only NAME] [--growth KILOBYTES]

The server runs in a separate process, with a token that cannot be guessed. Throughout, a legitimate client at 127.0.0.1
requests pages, and from `webrtc:` a session from time to time, on a new connection each time: `slowest_s` is its
longest wait. The hostile clients come from the same address and from others of the loopback network. Memory is measured
throughout: `growth_kib` is the maximum increase over the memory after the server's first client. `serve` has limits per
address and per token: there the hostile clients use other addresses and a separate token. The legitimate client also
watches a stream of pictures, where `widest_gap_s` is the longest time without one, and records another camera, which
drops no picture (paced-server.py), so the recording must not lack any. If `trouble` is empty, every legitimate request
was served, and memory stayed below the limit.
"""
import argparse
import contextlib
import http.client
import itertools
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import whep

TOKEN = "0123456789abcdefghjkmnpqrs"
HOSTILE = "hostile-0123456789abcdefgh"
SDP = {"content-type": "application/sdp"}
OWN, OTHERS = "127.0.0.1", ["127.0.0.2", "127.0.0.3"]
# Requests with which the legitimate client of `serve` causes events.
CONTROL = ["/v1/cameras/spare/pause", "/v1/cameras/spare/resume"]
# The legitimate client is served at once. The limit is long so that a busy machine doesn't look like a blocked server.
LIMIT = 20


class Server(whep.Inlet):
    TOKEN = TOKEN
    # The token and the addresses of the hostile clients.
    hostile, sources = TOKEN, [OWN, *OTHERS]

    def __init__(self, options):
        super().__init__(options)
        self.host, self.port = self.address.split(":")
        self.port = int(self.port)
        sink = "preview:{}?token={}&clients=16" if options.kind == "preview" else "webrtc:{}?token={}"
        self.command[self.command.index("--to") + 1] = sink.format(self.address, TOKEN)

    def viewers(self, limit=5):
        status, body = self.ask("GET", "/stats.json", limit=limit)
        if status != 200:
            raise OSError(f"the server answers {status}")
        return json.loads(body).get("viewers", [])

    def ask(self, method, path, body=None, headers=None, limit=LIMIT):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=limit)
        try:
            connection.request(method, path, body, {"authorization": f"Bearer {TOKEN}", **(headers or {})})
            answer = connection.getresponse()
            self.last = answer.headers
            return answer.status, answer.read()
        except http.client.RemoteDisconnected:
            raise
        except http.client.HTTPException as error:
            raise OSError(repr(error)) from error
        finally:
            connection.close()

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])

    def connect(self, source=None, receive=None, limit=5):
        client = socket.socket()
        client.settimeout(limit)
        if receive:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.bind((source or random.choice(self.sources), 0))
        client.connect((self.host, self.port))
        return client


class Serve(Server):
    """`inlet serve` with the camera `door` to attack, `packets` and `yard`, which have packets, and `spare`, whose
    events are received. The legitimate client's token is valid for all of them, that of the hostile clients for two."""

    hostile, sources = HOSTILE, OTHERS

    def __init__(self, options):
        super().__init__(options)
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "cameras.yaml")
        clip = os.path.join(self.folder.name, "clip.h264")
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-t", "10", "-c:v",
             "libx264", "-bf", "0", "-g", "25", clip], check=True)
        self.paced = subprocess.Popen(
            [sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), "paced-server.py"), clip,
             "--rate", "25"], stdout=subprocess.PIPE, text=True)
        self.rtsp = f"rtsp://127.0.0.1:{int(self.paced.stdout.readline())}"
        for name, token in (("rightful", TOKEN), ("hostile", HOSTILE)):
            with open(os.path.join(self.folder.name, name), "w", opener=lambda p, f: os.open(p, f, 0o600)) as file:
                file.write(token)
        drawn = whep.PATTERN.format(size=options.size, fps=options.fps)
        with open(path, "w") as file:
            file.write(f"""
server:
  listen: {self.address}
  tokens:
    rightful: {{scope: control, file: {self.folder.name}/rightful}}
    hostile: {{scope: control, file: {self.folder.name}/hostile, cameras: [door, packets]}}
defaults:
  record: {{folder: {self.folder.name}/recordings, before: 2s}}
cameras:
  door: {drawn}
  spare: pattern:ball?size=64x64&fps=5
  packets: {self.rtsp}/0
  yard: {self.rtsp}/1
""")
        self.command = [options.inlet, "serve", path]

    def __exit__(self, *_):
        super().__exit__()
        self.paced.kill()
        self.paced.wait()
        self.folder.cleanup()

    def viewers(self, limit=5):
        status, body = self.ask("GET", "/v1/cameras", limit=limit)
        if status != 200 or [camera["captured"] > 30 for camera in json.loads(body)["cameras"]] != [True] * 4:
            raise OSError(f"the server answers {status}, or a camera does not run yet")
        return []

    def record(self):
        status, body = self.ask(
            "POST", "/v1/cameras/yard/record", b'{"seconds": 3600}', {"content-type": "application/json"})
        return [] if status == 202 else [f"nothing is recorded: {status} {body[:200]}"]

    def recorded(self):
        """Ends the recording and returns its errors."""
        status, body = self.ask("DELETE", "/v1/cameras/yard/record")
        if status != 200:
            return [f"the recording has no end: {status} {body[:200]}"], 0
        item = json.loads(self.ask("GET", "/v1/cameras/yard/recordings")[1])["recordings"][0]
        status, body = self.ask("GET", f"/v1/cameras/yard/recordings/{item['name']}", limit=60)
        path = os.path.join(self.folder.name, "yard.mp4")
        with open(path, "wb") as file:
            file.write(body)
        told = subprocess.run(
            ["ffprobe", "-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path],
            capture_output=True, text=True, check=True).stdout
        times = [float(line.rstrip(",")) for line in told.split()]
        steps = sorted(after - before for before, after in zip(times, times[1:]))
        usual = steps[len(steps) // 2]
        missing = sum(round(step / usual) - 1 for step in steps)
        trouble = [f"the recording lacks {missing} of {len(times) + missing} pictures"] if missing else []
        if item["state"] != "complete" or item["gaps"]:
            trouble.append(f"the recording is {item}")
        return trouble, len(times)


class Gallery:
    def __init__(self, options, server):
        self.options, self.server = options, server
        self.trouble, self.shown = [], {}
        self.end = 0
        self.count = itertools.count()
        self.lock = threading.Lock()
        self.pages = {
            "preview": ["/stats.json", "/", "/snapshot.jpg"],
            "serve": ["/v1/cameras", "/", "/v1/cameras/door/snapshot.jpg", "/metrics", *CONTROL],
        }.get(options.kind, ["/stats.json", "/", "/"])
        self.sums = {}

    def note(self, name, number=1):
        with self.lock:
            self.sums[name] = self.sums.get(name, 0) + number

    # The legitimate client.

    def served(self, name, stop):
        slowest, times, closed, streams = 0, 0, 0, 0

        def ask(*request):
            nonlocal closed
            try:
                return self.server.ask(*request)
            except (BrokenPipeError, ConnectionResetError):
                # The server may close a waiting connection for a newer one at any time. If that happens between the
                # client's connection and its request, it repeats the request on a new connection, as browsers do (RFC
                # 9112, 9.3.1 and 9.5).
                closed += 1
                return self.server.ask(*request)

        while not stop.is_set():
            begun = time.monotonic()
            try:
                path = None
                is_session = self.options.kind == "webrtc" and times % 8 == 0
                if is_session:
                    status, body = ask("POST", "/whep", whep.OFFER, SDP)
                    if status == 201:
                        ask("DELETE", self.server.last["location"])
                else:
                    # Asks for the number of streams often, because a busy machine answers few requests meanwhile.
                    counts = self.options.kind == "serve" and name in ("deaf", "slow_readers") and times % 2
                    path = "/metrics" if counts else self.pages[times % len(self.pages)]
                    status, body = ask("POST" if path in CONTROL else "GET", path)
                if path == "/metrics":
                    open_now = int(re.search(rb'inlet_streams_open\{kind="http"\} (\d+)', body)[1])
                    streams = max(streams, open_now)
                if status not in (200, 201, 204):
                    self.trouble.append(f"{name}: a rightful client was answered {status}: {body[:80]}")
            except OSError as error:
                self.trouble.append(f"{name}: a rightful client was not served: {error!r}")
            slowest = max(slowest, time.monotonic() - begun)
            times += 1
            stop.wait(0.1)
        # A busy machine sends few requests, each longer after its connection.
        if closed > max(2, 1 + times // 10):
            self.trouble.append(f"{name}: {closed} of {times} connections were closed before their request")
        self.shown[name].update(served=times, slowest_s=round(slowest, 3), closed_early=closed)
        if self.options.kind == "serve":
            self.shown[name]["streams"] = streams
            if name in ("deaf", "slow_readers") and streams < 20:
                self.trouble.append(f"{name}: there were {streams} streams")

    def watches(self, name, stop):
        """Reads a stream of pictures."""
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=LIMIT)
        widest, last, pictures = 0, time.monotonic(), 0
        try:
            connection.request(
                "GET", "/v1/cameras/door/stream.mjpeg", headers={"authorization": f"Bearer {TOKEN}"})
            answer = connection.getresponse()
            if answer.status != 200:
                self.trouble.append(f"{name}: a rightful viewer was answered {answer.status}")
            while answer.status == 200 and not stop.is_set():
                data = answer.read1(1 << 20)
                if not data:
                    self.trouble.append(f"{name}: a rightful viewer's stream ended")
                    break
                begun = data.count(b"\xff\xd8\xff")
                if begun:
                    pictures += begun
                    widest, last = max(widest, time.monotonic() - last), time.monotonic()
        except (OSError, http.client.HTTPException) as error:
            self.trouble.append(f"{name}: a rightful viewer's stream failed: {error!r}")
        finally:
            connection.close()
        if widest > self.options.gap:
            self.trouble.append(f"{name}: a rightful viewer saw nothing for {widest:.1f} s")
        self.shown[name].update(pictures=pictures, widest_gap_s=round(widest, 3))

    # The attacks. Several threads repeat each of them until `end`.

    def flood(self, request, source=None):
        """Sends requests as fast as possible and never reads."""
        client = self.server.connect(source, receive=4096, limit=0.5)
        block = request * max(1, 8000 // len(request))
        with client:
            while time.monotonic() < self.end:
                with contextlib.suppress(TimeoutError):
                    self.note("sent_kib", client.send(block) // 1024)

    def pipelined(self):
        self.flood(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")

    def pipelined_with_token(self):
        self.flood(self.getting("/"))

    def hold(self, count, beginning=b"", each=None):
        """Opens many connections and repeatedly sends a few bytes on each."""
        clients = []
        try:
            while time.monotonic() < self.end:
                while len(clients) < count:
                    clients.append(self.server.connect())
                    clients[-1].sendall(beginning)
                    self.note("connections")
                for client in list(clients):
                    try:
                        client.setblocking(False)
                        if each:
                            client.sendall(each)
                        if client.recv(65536) == b"":
                            raise ConnectionResetError
                    except BlockingIOError:
                        pass
                    except OSError:
                        client.close()
                        clients.remove(client)
                time.sleep(0.05)
        finally:
            for client in clients:
                client.close()

    def idle(self):
        self.hold(60)

    def slow_heads(self):
        self.hold(60, b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ", b"a")

    def getting(self, path):
        head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {self.server.hostile}\r\n\r\n"
        return head.encode()

    def posting(self):
        """Returns the head of a request with a body, without the body's size."""
        path = {"webrtc": "/whep", "serve": "/v1/cameras/door/record"}.get(self.options.kind, "/")
        kind = "application/json" if self.options.kind == "serve" else "application/sdp"
        return (f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {self.server.hostile}\r\n"
                f"content-type: {kind}\r\n")

    def slow_bodies(self):
        head = self.posting()
        self.hold(60, (head + "content-length: 60000\r\n\r\nv=0\r\n").encode(), b"a")

    def deaf(self):
        """Requests endless content and reads nothing."""
        self.slow_readers(size=0)

    def slow_readers(self, size=1):
        """Requests large content and reads a byte now and then."""
        paths = {
            "preview": ["/stream.mjpg"],
            "serve": ["/v1/cameras/door/stream.mjpeg", "/v1/cameras/packets/stream.mp4", "/v1/events"],
        }.get(self.options.kind, ["/"])
        clients = []
        with contextlib.ExitStack() as stack:
            while time.monotonic() < self.end:
                if len(clients) < 30:
                    client = stack.enter_context(self.server.connect(receive=2048))
                    path = paths[len(clients) % len(paths)]
                    client.sendall(self.getting(path))
                    clients.append(client)
                    self.note("connections")
                for client in clients if size else []:
                    with contextlib.suppress(OSError):
                        client.setblocking(False)
                        client.recv(size)
                time.sleep(0.02)

    def churn(self):
        """Connects and disconnects, with a close or a reset."""
        client = self.server.connect()
        if next(self.count) % 2:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        self.note("connections")

    def crowd(self):
        """Opens the maximum number of connections from an address, and replaces closed ones at once."""
        self.hold(120)

    def guesses(self):
        """Sends wrong tokens on a connection until it is closed."""
        with self.server.connect() as client:
            while time.monotonic() < self.end:
                word = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=8))
                client.sendall(f"GET /?token={word} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
                answer = client.recv(65536)
                if not answer:
                    return
                self.note(f"answered_{answer[9:12].decode()}")

    def huge_heads(self):
        kind = next(self.count) % 3
        with self.server.connect() as client:
            client.sendall(b"GET /" + (b"a" * 2_000_000 if kind == 0 else b"") + b" HTTP/1.1\r\n")
            client.sendall(b"x: " + b"b" * 2_000_000 + b"\r\n" if kind == 1 else b"x: y\r\n" * 200_000)
            self.note("heads")

    def huge_bodies(self):
        head = self.posting()
        size = "transfer-encoding: chunked\r\n\r\n" if next(self.count) % 2 else "content-length: 10000000000\r\n\r\n"
        with self.server.connect() as client:
            client.sendall((head + size).encode())
            block = b"10000\r\n" + b"a" * 65536 + b"\r\n" if "chunked" in size else b"a" * 65536
            while time.monotonic() < self.end:
                client.sendall(block)
                self.note("sent_kib", 64)

    def half_closed(self):
        """Closes the sending side: before a request, in the middle of one, and after one that is answered later."""
        path = {"preview": "/snapshot.jpg", "serve": "/v1/cameras/door/snapshot.jpg"}.get(
            self.options.kind, "/stats.json")
        whole = self.getting(path)
        with self.server.connect() as client:
            client.sendall(whole[: [0, 30, len(whole)][next(self.count) % 3]])
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
            self.note("connections")

    def post(self, text):
        client = self.server.connect(random.choice(OTHERS), limit=LIMIT)
        with client:
            head = (f"POST /whep HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {self.server.hostile}\r\n"
                    "content-type: application/sdp\r\n")
            client.sendall(f"{head}content-length: {len(text)}\r\n\r\n{text}".encode())
            self.note(f"answered_{client.recv(65536)[9:12].decode()}")

    def huge_offers(self):
        """Sends offers of the maximum length, each filled with one kind of content."""
        kind, room = next(self.count) % 8, 64_000 - len(whep.OFFER)

        def many(line):
            return "".join(line(number) for number in range(room // len(line(10_000))))

        text = {
            0: whep.OFFER.replace("106 107\r\n", "106 107" + " 106" * (room // 8) + "\r\n", 1).replace(
                "profile-level-id=42e01f", "profile-level-id=42e01f;" + "a=1;" * (room // 8)),
            1: whep.OFFER + many(lambda n: f"a=rtpmap:{n % 128} H264/90000\r\n"),
            2: whep.OFFER + many(lambda n: f"a=fmtp:{n % 128} packetization-mode=1\r\n"),
            3: whep.OFFER + many(
                lambda n: f"a=candidate:{n} 1 udp 2113937151 192.0.2.{n % 256} {n % 60000 + 1} typ host\r\n"),
            4: whep.OFFER + many(lambda n: f"m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:{n}\r\n"),
            5: whep.OFFER + many(lambda n: f"a=extmap:{n % 14 + 1} urn:x:{n}\r\n"),
            6: whep.OFFER + many(lambda n: f"a=ssrc:{n} cname:x\r\n"),
            7: whep.OFFER + "\r\n" * (room // 2),
        }[kind]
        self.post(text)

    def sessions(self):
        """Opens sessions but never connects to them."""
        self.post(whep.OFFER)

    def run(self, name, attack, threads):
        self.shown[name] = {}
        self.sums = {}
        base, peak, stop = self.base, 0, threading.Event()

        def again():
            while time.monotonic() < self.end:
                try:
                    attack()
                except OSError:
                    # Refused or closed, as expected.
                    time.sleep(0.001)

        rightful = [threading.Thread(target=self.served, args=(name, stop))]
        if self.options.kind == "serve":
            rightful.append(threading.Thread(target=self.watches, args=(name, stop)))
        self.end = time.monotonic() + self.options.seconds
        hostile = [threading.Thread(target=again) for _ in range(threads)]
        for thread in [*rightful, *hostile]:
            thread.start()
        while time.monotonic() < self.end:
            peak = max(peak, self.server.resident())
            time.sleep(0.05)
        for thread in hostile:
            thread.join()
        stop.set()
        for thread in rightful:
            thread.join()
        growth = max(peak, self.server.resident()) - base
        self.shown[name].update(growth_kib=growth, **self.sums)
        if growth > self.options.growth:
            self.trouble.append(f"{name}: memory grew by {growth} KiB")

    def all(self):
        if self.options.kind == "serve":
            self.trouble += self.server.record()
            # Excludes the memory for the first viewers and a full history from the growth.
            self.options, seconds = argparse.Namespace(**{**vars(self.options), "seconds": 3}), self.options.seconds
            self.base = 1 << 30
            self.run("slow_readers", self.slow_readers, 1)
            self.options.seconds = seconds
        for path in ["/stats.json", "/snapshot.jpg", *self.pages]:
            self.server.ask("GET", path)
        if self.options.kind == "webrtc":
            # Excludes the memory for a process's first sessions from the growth.
            for _ in range(3):
                self.server.ask("POST", "/whep", whep.OFFER, SDP)
                self.server.ask("DELETE", self.server.last["location"])
        time.sleep(1)
        self.base = self.server.resident()
        attacks = [
            (self.pipelined, 16), (self.pipelined_with_token, 16), (self.idle, 3), (self.slow_heads, 3),
            (self.slow_bodies, 3), (self.slow_readers, 2), (self.churn, 4), (self.crowd, 2), (self.guesses, 16),
            (self.huge_heads, 4), (self.huge_bodies, 4), (self.half_closed, 4)]
        if self.options.kind == "webrtc":
            attacks += [(self.huge_offers, 4), (self.sessions, 4)]
        if self.options.kind == "serve":
            attacks.append((self.deaf, 2))
        for attack, threads in attacks:
            if self.options.only in (None, attack.__name__):
                self.run(attack.__name__, attack, threads)
        # A busy machine opens few sessions in the time of one attack.
        for _ in range(10):
            sessions = self.shown.get("sessions")
            if sessions is None or sessions.get("answered_429"):
                break
            self.run("sessions", self.sessions, 4)
        if (self.options.kind == "webrtc" and "sessions" in self.shown
                and not self.shown["sessions"].get("answered_429")):
            self.trouble.append("one address may open any number of sessions")
        if self.options.kind == "serve":
            trouble, pictures = self.server.recorded()
            self.shown["recording"] = {"pictures": pictures}
            self.trouble += trouble
        lines = [line for line in self.server.text().splitlines() if "wrong token" in line]
        self.shown.setdefault("guesses", {})["log_lines"] = len(lines)
        if self.options.only in (None, "guesses"):
            if not lines:
                self.trouble.append("the log does not report wrong tokens")
            if len(lines) > 2 + self.options.seconds / 5:
                self.trouble.append(f"{len(lines)} lines in the log report wrong tokens")
            if any(TOKEN in line for line in lines):
                self.trouble.append("the log contains the token")
        return {"trouble": self.trouble, "attacks": self.shown}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["preview", "webrtc", "serve"])
    whep.add_options(parser, size="640x360", fps=15)
    parser.add_argument("--seconds", type=float, default=3, help="of each attack")
    parser.add_argument("--only", help="run only the attack with this name")
    parser.add_argument("--growth", type=int, default=40_000,
                        help="kilobytes by which the server's memory may grow; a sanitizer needs more")
    parser.add_argument("--gap", type=float, default=5, help="of `serve`: the longest time without a picture")
    options = parser.parse_args()
    with (Serve if options.kind == "serve" else Server)(options) as server:
        result = Gallery(options, server).all()
        result["trouble"] += server.end()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
