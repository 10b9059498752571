#!/usr/bin/env python3
"""A gallery of hostile clients against the web server of `preview:` or `webrtc:`, each for some seconds; prints what
came of it as one JSON object. Needs nothing but Python.

Usage: http-hostile.py preview|webrtc [--inlet PROGRAM] [--seconds S] [--only NAME] [--growth KILOBYTES]

The server runs as a process of its own, with a token that it may not guess from. Throughout, a rightful client at
127.0.0.1 asks for pages, and at `webrtc:` for a session now and then, on a new connection each time: `slowest_s` says
how long it waited at most. The hostile ones come from the same address and from others of the loopback's network.
Memory is looked at all the while: `growth_kib` is the most that there was beyond what the server had after its first
client. Where `trouble` is empty, everyone who should be was served, and memory stayed below the bound.
"""
import argparse
import contextlib
import http.client
import itertools
import json
import random
import re
import socket
import struct
import threading
import time

import whep

TOKEN = "0123456789abcdefghjkmnpqrs"
SDP = {"content-type": "application/sdp"}
OWN, OTHERS = "127.0.0.1", ["127.0.0.2", "127.0.0.3"]
# A rightful client is served at once; a machine that is busy with other things must not look like a server that is
# locked.
LIMIT = 20


class Server(whep.Inlet):
    TOKEN = TOKEN

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
        client.bind((source or random.choice([OWN, *OTHERS]), 0))
        client.connect((self.host, self.port))
        return client


class Gallery:
    def __init__(self, options, server):
        self.options, self.server = options, server
        self.trouble, self.shown = [], {}
        self.end = 0
        self.count = itertools.count()
        self.lock = threading.Lock()
        self.sums = {}

    def note(self, name, number=1):
        with self.lock:
            self.sums[name] = self.sums.get(name, 0) + number

    # The rightful client.

    def served(self, name, stop):
        slowest, times, closed = 0, 0, 0

        def ask(*request):
            nonlocal closed
            try:
                return self.server.ask(*request)
            except (BrokenPipeError, ConnectionResetError):
                # A connection that waits may be closed for a newer one at any time; a client that was held up between
                # its connection and its request asks again on a new one, as browsers do (RFC 9112, 9.3.1 and 9.5).
                closed += 1
                return self.server.ask(*request)

        while not stop.is_set():
            begun = time.monotonic()
            try:
                is_session = self.options.kind == "webrtc" and times % 8 == 0
                if is_session:
                    status, body = ask("POST", "/whep", whep.OFFER, SDP)
                    if status == 201:
                        ask("DELETE", self.server.last["location"])
                else:
                    path = ["/stats.json", "/", "/snapshot.jpg" if self.options.kind == "preview" else "/"][times % 3]
                    status, body = ask("GET", path)
                if status not in (200, 201):
                    self.trouble.append(f"{name}: a rightful client was answered {status}: {body[:80]}")
            except OSError as error:
                self.trouble.append(f"{name}: a rightful client was not served: {error!r}")
            slowest = max(slowest, time.monotonic() - begun)
            times += 1
            stop.wait(0.1)
        if closed > 1 + times // 10:
            self.trouble.append(f"{name}: {closed} of {times} connections were closed before their request")
        self.shown[name].update(served=times, slowest_s=round(slowest, 3), closed_early=closed)

    # The hostile ones. Each is called again and again by several threads, and has until `end`.

    def flood(self, request, source=None):
        """Sends requests as fast as they are taken, and never reads."""
        client = self.server.connect(source, receive=4096, limit=0.5)
        block = request * max(1, 8000 // len(request))
        with client:
            while time.monotonic() < self.end:
                with contextlib.suppress(TimeoutError):
                    self.note("sent_kib", client.send(block) // 1024)

    def pipelined(self):
        self.flood(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")

    def pipelined_with_token(self):
        self.flood(f"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode())

    def hold(self, count, beginning=b"", each=None):
        """Opens many connections, and says something little on each again and again."""
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

    def slow_bodies(self):
        path = "/whep" if self.options.kind == "webrtc" else "/"
        head = (f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n"
                "content-type: application/sdp\r\n")
        self.hold(60, (head + "content-length: 60000\r\n\r\nv=0\r\n").encode(), b"a")

    def slow_readers(self):
        """Asks for what is large, and reads a byte now and then."""
        path = "/stream.mjpg" if self.options.kind == "preview" else "/"
        clients = []
        with contextlib.ExitStack() as stack:
            while time.monotonic() < self.end:
                if len(clients) < 30:
                    client = stack.enter_context(self.server.connect(receive=2048))
                    client.sendall(
                        f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode())
                    clients.append(client)
                    self.note("connections")
                for client in clients:
                    with contextlib.suppress(OSError):
                        client.setblocking(False)
                        client.recv(1)
                time.sleep(0.02)

    def churn(self):
        """Connects and goes, at once or by a reset."""
        client = self.server.connect()
        if next(self.count) % 2:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        self.note("connections")

    def crowd(self):
        """As many connections as an address can have, new ones as soon as they are closed."""
        self.hold(120)

    def guesses(self):
        """Shows wrong tokens, on a connection until it is closed."""
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
        path = "/whep" if self.options.kind == "webrtc" else "/"
        head = (f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n"
                "content-type: application/sdp\r\n")
        size = "transfer-encoding: chunked\r\n\r\n" if next(self.count) % 2 else "content-length: 10000000000\r\n\r\n"
        with self.server.connect() as client:
            client.sendall((head + size).encode())
            block = b"10000\r\n" + b"a" * 65536 + b"\r\n" if "chunked" in size else b"a" * 65536
            while time.monotonic() < self.end:
                client.sendall(block)
                self.note("sent_kib", 64)

    def half_closed(self):
        """Says that nothing more comes: before a request, in the middle of one, and after one that is answered
        later."""
        path = "/snapshot.jpg" if self.options.kind == "preview" else "/stats.json"
        whole = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode()
        with self.server.connect() as client:
            client.sendall(whole[: [0, 30, len(whole)][next(self.count) % 3]])
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
            self.note("connections")

    def post(self, text):
        client = self.server.connect(random.choice(OTHERS), limit=LIMIT)
        with client:
            head = (f"POST /whep HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n"
                    "content-type: application/sdp\r\n")
            client.sendall(f"{head}content-length: {len(text)}\r\n\r\n{text}".encode())
            self.note(f"answered_{client.recv(65536)[9:12].decode()}")

    def huge_offers(self):
        """As long as an offer may be, filled with one kind of thing."""
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
        """Opens sessions and never comes to them."""
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
                    # Refused or cut off, as it should be.
                    time.sleep(0.001)

        rightful = threading.Thread(target=self.served, args=(name, stop))
        self.end = time.monotonic() + self.options.seconds
        hostile = [threading.Thread(target=again) for _ in range(threads)]
        for thread in [*hostile, rightful]:
            thread.start()
        while time.monotonic() < self.end:
            peak = max(peak, self.server.resident())
            time.sleep(0.05)
        for thread in hostile:
            thread.join()
        stop.set()
        rightful.join()
        growth = max(peak, self.server.resident()) - base
        self.shown[name].update(growth_kib=growth, **self.sums)
        if growth > self.options.growth:
            self.trouble.append(f"{name}: memory grew by {growth} KiB")

    def all(self):
        for path in ("/", "/stats.json", "/snapshot.jpg"):
            self.server.ask("GET", path)
        if self.options.kind == "webrtc":
            # What the first sessions of a process need is no growth.
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
        for attack, threads in attacks:
            if self.options.only in (None, attack.__name__):
                self.run(attack.__name__, attack, threads)
        if (self.options.kind == "webrtc" and "sessions" in self.shown
                and not self.shown["sessions"].get("answered_429")):
            self.trouble.append("one address may open any number of sessions")
        lines = [line for line in self.server.text().splitlines() if "wrong token" in line]
        self.shown.setdefault("guesses", {})["log_lines"] = len(lines)
        if self.options.only in (None, "guesses"):
            if not lines:
                self.trouble.append("nothing in the log tells of wrong tokens")
            if len(lines) > 2 + self.options.seconds / 5:
                self.trouble.append(f"{len(lines)} lines in the log tell of wrong tokens")
            if any(TOKEN in line for line in lines):
                self.trouble.append("the log tells the token")
        return {"trouble": self.trouble, "attacks": self.shown}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["preview", "webrtc"])
    whep.add_options(parser, size="640x360", fps=15)
    parser.add_argument("--seconds", type=float, default=3, help="of each attack")
    parser.add_argument("--only", help="one attack by its name")
    parser.add_argument("--growth", type=int, default=40_000,
                        help="kilobytes that the server may have more at any time; a sanitizer needs more")
    options = parser.parse_args()
    with Server(options) as server:
        result = Gallery(options, server).all()
        result["trouble"] += server.end()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
