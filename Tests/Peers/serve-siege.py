#!/usr/bin/env python3
"""Attacks one `inlet serve` in all ways at once, and prints the results as one JSON object. Needs Python and ffmpeg.

Usage: serve-siege.py --inlet PROGRAM [--seconds S] [--restreams] [--growth KILOBYTES]

The hostile clients have separate addresses and the token of a viewer: HTTP clients that pipeline, stall, send long
heads, do not read (pictures, MP4, events, the list of recordings), guess tokens and offer sessions; with --restreams
RTSP readers that stall, are idle, guess or send garbage; and three cameras that send garbage, an endless header and
random bytes. Meanwhile, the legitimate client requests pages and pictures, each time on a new connection.

There are two rounds of the same attacks. `growth_kib` is the memory of the second round beyond the maximum of the
first. `threads` and `descriptors` are the numbers before, at most, and after. `slowest_s` is the legitimate client's
longest wait, and `watchdog_s` the longest time between two messages to the watchdog, which are due every 2 s. If
`trouble` is empty, every legitimate request was served, and the daemon returned to its previous use of resources.
"""
import argparse
import contextlib
import hashlib
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import peer

RIGHTFUL, HOSTILE = "rightful-0123456789abcdefg", "hostile-0123456789abcdefgh"
OWN, OTHERS = "127.0.0.1", [f"127.0.{n}.2" for n in range(1, 9)]
HERE = os.path.dirname(os.path.abspath(__file__))
# Generous, so that a busy machine is not taken for a blocked daemon.
LIMIT = 30


class Daemon:
    def __init__(self, options):
        self.options, self.children = options, []
        self.port, self.rtsp = peer.free_port(), peer.free_port()
        self.folder = tempfile.TemporaryDirectory()

    def spawn(self, name, *arguments):
        """Starts a server of this folder, and returns its first line."""
        child = subprocess.Popen(
            [sys.executable, "-B", os.path.join(HERE, name), *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.children.append(child)
        return json.loads(child.stdout.readline())

    def __enter__(self):
        folder = self.folder.name
        clip = os.path.join(folder, "clip.h264")
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-t", "4", "-c:v",
             "libx264", "-bf", "0", "-g", "25", clip], check=True)
        paced = self.spawn("paced-server.py", clip, "--rate", "25")
        devices = [self.spawn("hostile-server.py", "--kind", kind)["port"]
                   for kind in ("garbage-stream", "endless-header", "random")]
        for name, token in (("rightful", RIGHTFUL), ("hostile", HOSTILE)):
            with open(os.path.join(folder, name), "w", opener=lambda p, f: os.open(p, f, 0o600)) as file:
                file.write(token)
        path = os.path.join(folder, "cameras.yaml")
        with open(path, "w") as file:
            file.write(f"""
server:
  listen: 127.0.0.1:{self.port}
  {f"restream: 127.0.0.1:{self.rtsp}" if self.options.restreams else "base-path: /"}
  tokens:
    rightful: {{scope: control, file: {folder}/rightful}}
    hostile: {{scope: view, file: {folder}/hostile}}
defaults:
  record: {{folder: {folder}/recordings, before: 2s}}
cameras:
  door: pattern:timecode?size=320x180&fps=10
  packets: rtsp://127.0.0.1:{paced}/0
""" + "".join(f"  bad{n}: rtsp://127.0.0.1:{port}/stream\n" for n, port in enumerate(devices)))
        self.beats = [time.monotonic()]
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(os.path.join(folder, "notify"))
        threading.Thread(target=self.listen, daemon=True).start()
        self.log = open(os.path.join(folder, "log"), "w+")
        # A test's thread may have blocked signals, and children inherit that.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        self.process = subprocess.Popen(
            [self.options.inlet, "serve", path], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={**os.environ, "NOTIFY_SOCKET": os.path.join(folder, "notify"), "WATCHDOG_USEC": "4000000"})
        end = time.monotonic() + 90
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError, KeyError, ValueError):
                cameras = json.loads(self.ask("/v1/cameras")[1])["cameras"]
                if all(each["captured"] > 30 for each in cameras if not each["name"].startswith("bad")):
                    return self
            time.sleep(0.2)
        text = open(os.path.join(folder, "log")).read()
        self.__exit__()
        sys.exit(f"the daemon does not serve: {text[-2000:]}")

    def __exit__(self, *_):
        for child in [self.process, *self.children]:
            child.kill()
            child.wait()
        self.folder.cleanup()

    def listen(self):
        while True:
            if b"WATCHDOG=1" in self.notify.recv(4096):
                self.beats.append(time.monotonic())

    def ask(self, path, method="GET", token=RIGHTFUL):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT, source_address=(OWN, 0))
        try:
            connection.request(method, path, headers={"authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except http.client.HTTPException as error:
            raise OSError(repr(error)) from error
        finally:
            connection.close()

    def use(self):
        """Returns the kilobytes of memory, the threads and the descriptors of the daemon."""
        with open(f"/proc/{self.process.pid}/status") as file:
            status = file.read()
        return (int(re.search(r"VmRSS:\s+(\d+)", status)[1]), int(re.search(r"Threads:\s+(\d+)", status)[1]),
                len(os.listdir(f"/proc/{self.process.pid}/fd")))


class Siege:
    def __init__(self, daemon):
        self.daemon, self.end = daemon, 0
        self.trouble, self.counts, self.lock = [], {}, threading.Lock()

    def count(self, name, number=1):
        with self.lock:
            self.counts[name] = self.counts.get(name, 0) + number

    def connect(self, port=None, receive=None):
        client = socket.socket()
        client.settimeout(2)
        if receive:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.bind((random.choice(OTHERS), 0))
        client.connect(("127.0.0.1", port or self.daemon.port))
        return client

    def head(self, path, token=HOSTILE, method="GET"):
        return f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n"

    # The attacks, which threads repeat.

    def pipelined(self):
        block = (self.head("/") + "\r\n").encode() * 40
        with self.connect(receive=4096) as client:
            while time.monotonic() < self.end:
                client.sendall(block)
                self.count("requests", 40)

    def slow(self):
        """Holds connections with heads and bodies that never end."""
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(self.connect()) for _ in range(30)]
            for number, client in enumerate(clients):
                body = "content-length: 60000\r\ncontent-type: application/sdp\r\n\r\n" if number % 2 else "x: "
                client.sendall((self.head("/v1/cameras/door/whep", method="POST") + body).encode())
            self.count("held", len(clients))
            while time.monotonic() < self.end:
                for client in clients:
                    client.sendall(b"a")
                time.sleep(0.2)

    def long_heads(self):
        with self.connect() as client:
            client.sendall(self.head("/").encode() + b"x: " + b"b" * 500_000 + b"\r\n" + b"y: z\r\n" * 50_000)
            self.count("heads")

    def deaf(self):
        """Requests streams and long answers, and reads nothing."""
        paths = ["/v1/cameras/door/stream.mjpeg", "/v1/cameras/packets/stream.mp4", "/v1/events",
                 "/v1/cameras/packets/stream.m3u8", "/v1/openapi.json"]
        with contextlib.ExitStack() as stack:
            for path in paths * 3:
                client = stack.enter_context(self.connect(receive=2048))
                client.sendall((self.head(path) + "\r\n").encode())
                self.count("streams")
            while time.monotonic() < self.end:
                time.sleep(0.1)

    def lists(self):
        """Requests work of the disk, and leaves."""
        with self.connect() as client:
            client.sendall((self.head("/v1/cameras/packets/recordings?limit=1000") + "\r\n").encode())
            self.count("lists")

    def guesses(self):
        with self.connect() as client:
            client.sendall((self.head("/v1/cameras", token=f"wrong-{random.getrandbits(80)}") + "\r\n").encode())
            client.recv(4096)
            self.count("guesses")

    def readers(self):
        """Plays by RTSP and reads nothing; some only connect, guess, or send garbage."""
        port = self.daemon.rtsp
        url = f"rtsp://127.0.0.1:{port}/packets"

        def md5(text):
            return hashlib.md5(text.encode()).hexdigest()

        def ask(client, method, uri, extra="", password=HOSTILE):
            answer = ""
            for _ in range(2):
                nonce = re.search('nonce="([^"]*)"', answer)
                login = ""
                if nonce:
                    response = md5(f"{md5(f'hostile:Inlet:{password}')}:{nonce[1]}:{md5(f'{method}:{uri}')}")
                    login = (f'Authorization: Digest username="hostile", realm="Inlet", nonce="{nonce[1]}", '
                             f'uri="{uri}", response="{response}"\r\n')
                client.sendall(f"{method} {uri} RTSP/1.0\r\nCSeq: 1\r\n{extra}{login}\r\n".encode())
                answer = client.recv(65536).decode("latin-1")
                if " 401 " not in answer:
                    break
            return answer

        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(self.connect(port, receive=2048)) for _ in range(8)]
            for number, client in enumerate(clients):
                if number % 4 == 0:
                    client.sendall(b"\x00$\xff" * 4000)
                elif number % 4 == 1:
                    ask(client, "DESCRIBE", url, password="wrong")
                elif number % 4 == 2:
                    answer = ask(client, "DESCRIBE", url)
                    base = re.search("Content-Base: (.*)\r", answer)
                    if not base:
                        continue
                    answer = ask(client, "SETUP", base[1] + "stream=0",
                                 "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n")
                    session = re.search("Session: ([^;\r]*)", answer)
                    if session:
                        ask(client, "PLAY", base[1], f"Session: {session[1]}\r\n")
                        self.count("rtsp")
            time.sleep(min(3, max(0, self.end - time.monotonic())))

    # The rightful client.

    def served(self, stop):
        paths = ["/v1/cameras", "/", "/v1/cameras/door/snapshot.jpg", "/metrics", "/v1/cameras/packets/recordings"]
        self.slowest, number = 0, 0
        while not stop.is_set():
            begun, path = time.monotonic(), paths[number % len(paths)]
            try:
                status, _ = self.daemon.ask(path)
                if status != 200:
                    self.trouble.append(f"the rightful client got {status} for {path}")
            except OSError as error:
                self.trouble.append(f"the rightful client was not served {path}: {error!r}")
            self.slowest = max(self.slowest, time.monotonic() - begun)
            number += 1
            stop.wait(0.05)
        self.count("served", number)

    def again(self, attack):
        while time.monotonic() < self.end:
            try:
                attack()
            except OSError:
                # Refused or closed, as expected.
                time.sleep(0.01)

    def round(self, seconds):
        """Attacks for a time, and returns the highest use."""
        attacks = [(self.pipelined, 4), (self.slow, 2), (self.long_heads, 2), (self.deaf, 2), (self.lists, 2),
                   (self.guesses, 2)] + ([(self.readers, 2)] if self.daemon.options.restreams else [])
        self.end = time.monotonic() + seconds
        threads = [threading.Thread(target=self.again, args=(attack,)) for attack, count in attacks
                   for _ in range(count)]
        for thread in threads:
            thread.start()
        most = (0, 0, 0)
        while time.monotonic() < self.end:
            most = tuple(map(max, most, self.daemon.use()))
            time.sleep(0.1)
        for thread in threads:
            thread.join()
        return most

    def all(self, options):
        daemon, stop = self.daemon, threading.Event()
        rightful = threading.Thread(target=self.served, args=(stop,))
        rightful.start()
        # Threads and memory for the first clients are no growth.
        time.sleep(2)
        before = daemon.use()
        first = self.round(options.seconds)
        second = self.round(options.seconds)
        after, end = daemon.use(), time.monotonic() + 60
        # Places of clients that are gone are freed after their time is over.
        while time.monotonic() < end and not (after[1] <= before[1] + 8 and after[2] <= before[2] + 16):
            time.sleep(0.5)
            after = daemon.use()
        stop.set()
        rightful.join()
        cameras = json.loads(daemon.ask("/v1/cameras")[1])["cameras"]
        self.counts["openings"] = min(each["openings"] for each in cameras if each["name"].startswith("bad"))
        for each in cameras:
            if not each["name"].startswith("bad") and (each["state"] != "live" or each["openings"] != 1):
                self.trouble.append(f"{each['name']} is {each['state']} after {each['openings']} openings")
        if second[0] - first[0] > options.growth:
            self.trouble.append(f"memory grew by {second[0] - first[0]} KiB from one round to the next")
        if after[1] > before[1] + 8 or after[2] > before[2] + 16:
            self.trouble.append(f"of {before} threads and descriptors became {after}")
        beats = [later - earlier for earlier, later in zip(daemon.beats, [*daemon.beats[1:], time.monotonic()])]
        if max(beats) > LIMIT:
            self.trouble.append(f"the watchdog got no message for {max(beats):.1f} s")
        wanted = ["requests", "held", "heads", "streams", "lists", "guesses", "served", "openings"]
        missing = [name for name in wanted + ["rtsp"] * options.restreams if not self.counts.get(name)]
        if missing:
            self.trouble.append(f"there were no {', '.join(missing)}")
        daemon.process.terminate()
        code = daemon.process.wait(60)
        if code != 0:
            self.trouble.append(f"the daemon ended with {code}")
        return {
            "trouble": self.trouble[:20], "counts": self.counts, "slowest_s": round(self.slowest, 3),
            "watchdog_s": round(max(beats[1:], default=0), 3), "growth_kib": second[0] - first[0],
            "memory_kib": [before[0], max(first[0], second[0]), after[0]],
            "threads": [before[1], max(first[1], second[1]), after[1]],
            "descriptors": [before[2], max(first[2], second[2]), after[2]]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inlet", required=True)
    parser.add_argument("--seconds", type=float, default=10, help="the duration of each round")
    parser.add_argument("--restreams", action="store_true", help="the daemon has an RTSP server")
    parser.add_argument("--growth", type=int, default=60_000,
                        help="kilobytes that the second round may use beyond the first; a sanitizer needs more")
    options = parser.parse_args()
    with Daemon(options) as daemon:
        print(json.dumps(Siege(daemon).all(options)))


main()
