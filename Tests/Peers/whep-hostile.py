#!/usr/bin/env python3
"""Misuses a WHEP or WHIP endpoint in every way that a client can, and prints the results as one JSON object.

Needs only Python.

Usage: whep-hostile.py [--endpoint whep|whip] [--inlet PROGRAM] [--offers N] [--fragments N] [--seed N]

Damaged offers are posted and damaged fragments sent to real sessions, while a hundred connections withhold half of a
request and one sends a byte a second. After each step, the server is checked. If `trouble` is empty, all results were
as expected.
"""
import argparse
import collections
import concurrent.futures
import http.client
import json
import random
import socket
import threading
import time

import whep

FRAGMENT = "application/trickle-ice-sdpfrag"
CANDIDATES = "\r\n".join([
    "a=ice-ufrag:Zr4X", "a=ice-pwd:0PmVn2GzYv0xkhPzKVQ4vYhx", "m=video 9 UDP/TLS/RTP/SAVPF 0", "a=mid:0",
    "a=candidate:1 1 udp 2113937151 127.0.0.1 46155 typ host generation 0 ufrag Zr4X network-id 1",
    "a=candidate:2 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active generation 0",
    "a=candidate:3 1 udp 2113937151 4d36fbd9-3b37-4a2c-9a1c-7d9f4c0e8a11.local 46156 typ host",
    "a=candidate:4 1 udp 41885695 2001:db8::7 46157 typ relay raddr ::1 rport 1", "a=end-of-candidates", ""])
NUMBERS = [b"0", b"-1", b"127", b"128", b"65535", b"65536", b"4294967296", b"9223372036854775808", b"1e309", b""]
WORDS = [b"\0", b"\r", b"\n", b"\r\n\r\n", b":", b"=", b"%s%n%n", "é".encode(), b"a=", b"m=video 0 x 0\r\n",
         b"a=inactive\r\n", b"a=ssrc:1 x:y\r\n", b"A" * 5000, b" " * 300, b"\xff\xfe", b"a=fingerprint:md5 00\r\n",
         b"a=setup:passive\r\n", b"a=bundle-only\r\n", b"a=rid:1 send\r\n", b"a=simulcast:recv 1\r\n",
         b"a=sctp-port:5000\r\n", b"m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", b"a=ice-lite\r\n"]


def spoil(text, chance):
    """Returns the text damaged at one to four places."""
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(max(1, len(data)))
        match chance.randrange(8):
            case 0: data[place : place + 1] = bytes([chance.randrange(256)])
            case 1: del data[place : place + chance.randint(1, 40)]
            case 2: data[place:place] = data[place : place + 80]
            case 3: data[place:place] = chance.choice(WORDS)
            case 4: del data[place:]
            case 5:
                end = start = place
                while start < len(data) and not chr(data[start]).isdigit():
                    start += 1
                end = start
                while end < len(data) and chr(data[end]).isdigit():
                    end += 1
                data[start:end] = chance.choice(NUMBERS)
            case _:
                lines = data.split(b"\r\n")
                line = lines.pop(chance.randrange(len(lines)))
                if chance.random() < 0.5:
                    lines.insert(chance.randint(0, len(lines)), line)
                data = bytearray(b"\r\n".join(lines))
    return bytes(data)


class Server:
    def __init__(self, inlet):
        self.host, self.port = inlet.address.split(":")
        self.path, self.token = inlet.endpoint.removeprefix(f"http://{inlet.address}"), inlet.TOKEN
        self.takes_publishers = self.path == "/whip"
        # A publisher's offer sends media.
        self.good = whep.OFFER.replace("a=recvonly", "a=sendonly") if self.takes_publishers else whep.OFFER
        self.slowest, self.refused, self.asked, self.closed_early = 0.0, 0, 0, 0

    def ask(self, method, path, body=None, headers=None, token=True):
        """Returns the status, the headers and the body; the status is 0 if the connection was closed without an answer.

        The server may close a waiting connection for a newer one at any time, and this address has a hundred newer
        ones. If that happens between the client's connection and its request, it repeats the request on a new
        connection, as browsers do (RFC 9112, 9.3.1 and 9.5).
        """
        self.asked += 1
        answer = self.ask_once(method, path, body, headers, token)
        if answer[0] == 0:
            again = self.ask_once(method, path, body, headers, token)
            self.closed_early += again[0] != 0
            return again
        return answer

    def ask_once(self, method, path, body, headers, token):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        begun = time.monotonic()
        try:
            bearer = {"authorization": f"Bearer {self.token}"} if token else {}
            connection.request(method, path, body, {**bearer, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (ConnectionError, http.client.HTTPException):
            return 0, {}, b""
        finally:
            self.slowest = max(self.slowest, time.monotonic() - begun)
            connection.close()

    def post(self, body, **options):
        """Sends an offer. Repeats it if it comes too soon after others, because an address may have only few
        publishers."""
        while True:
            answer = self.ask("POST", self.path, body, {"content-type": "application/sdp"}, **options)
            if answer[0] != 429:
                return answer
            self.refused += 1
            time.sleep(0.05)

    def patch(self, place, body, tag):
        return self.ask("PATCH", place, body, {"content-type": FRAGMENT, **({"if-match": tag} if tag else {})})

    def viewers(self):
        status, _, body = self.ask("GET", "/stats.json")
        told = json.loads(body) if status == 200 else {}
        return ["the publisher"] * told["published"] if "published" in told else told.get("viewers")

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=40)


class Run:
    def __init__(self, options, inlet):
        self.options, self.inlet, self.server = options, inlet, Server(inlet)
        self.trouble, self.counts = [], {}

    def expect(self, what, got, wanted):
        if got not in wanted:
            self.trouble.append(f"{what}: {got} instead of {sorted(wanted)}")

    def alive(self, after):
        if self.server.viewers() is None:
            self.trouble.append(f"after {after} the server does not answer")

    def offer(self, number):
        chance = random.Random(self.options.seed * 1_000_003 + number)
        body = spoil(self.server.good, chance)
        status, headers, _ = self.server.post(body)
        self.expect(f"spoilt offer {number}", status, {201, 400, 413, 422})
        if status == 201:
            place, tag = headers["location"], headers["etag"]
            for _ in range(2):
                self.expect(f"fragment to {number}",
                            self.server.patch(place, spoil(CANDIDATES, chance), tag)[0], {204, 400, 413, 422, 404})
            # Some sessions are left, so the server must detect that the client is gone.
            if chance.random() < 0.8:
                self.expect(f"end of {number}", self.server.ask("DELETE", place)[0], {200, 404})
        self.alive(f"offer {number}")
        return status

    def fragments(self):
        """Sends damaged fragments to real sessions that never connect. The sessions end by themselves after a while."""
        counts, place = collections.Counter(), None
        for number in range(self.options.fragments):
            chance = random.Random(self.options.seed * 1_000_003 + 500_000 + number)
            if place is None:
                status, headers, _ = self.server.post(self.server.good)
                self.expect("a good offer", status, {201})
                if status != 201:
                    return counts
                place, tag = headers["location"], headers["etag"]
            status, _, _ = self.server.patch(place, spoil(CANDIDATES, chance), tag)
            counts[status] += 1
            self.expect(f"spoilt fragment {number}", status, {204, 400, 413, 422, 404})
            if status == 404:
                place = None
        if place:
            self.server.ask("DELETE", place)
        return counts

    def table(self):
        """Sends requests that each have one correct answer."""
        ask, path, sdp = self.server.ask, self.server.path, {"content-type": "application/sdp"}
        good = self.server.good
        status, headers, _ = self.server.post(good)
        self.expect("a good offer", status, {201})
        if status != 201:
            return
        place, tag = headers["location"], headers["etag"]
        fragment = {"content-type": FRAGMENT}
        for name, got, wanted in [
            ("an offer too long", ask("POST", path, b"v=0\r\n" + b"a" * 70_000, sdp), {413, 0}),
            ("an offer far too long", ask("POST", path, b"a" * 3_000_000, sdp), {413, 0}),
            ("an offer of another type", ask("POST", path, good, {"content-type": "text/plain"}), {415}),
            ("an offer of no type", ask("POST", path, good), {415}),
            ("an empty offer", ask("POST", path, b"", sdp), {400}),
            ("an offer that is not UTF-8", ask("POST", path, b"v=0\r\n\xff\xfe\r\n", sdp), {400}),
            ("an offer without video", ask("POST", path, good.replace("m=video", "m=audio"), sdp), {422}),
            ("an offer of unknown codecs",
             ask("POST", path, good.replace("H264", "X264").replace("VP8", "X8"), sdp), {422}),
            ("an offer of the other direction",
             ask("POST", path, good.replace("a=recvonly", "a=-").replace("a=sendonly", "a=recvonly").replace(
                 "a=-", "a=sendonly"), sdp), {422}),
            ("an unknown session", ask("PATCH", path + "/0123", CANDIDATES, {**fragment, "if-match": tag}), {404}),
            ("the end of an unknown session", ask("DELETE", path + "/0123"), {404}),
            ("a path out of the endpoint", ask("DELETE", path + "/../../etc/passwd"), {404}),
            ("candidates without a tag", ask("PATCH", place, CANDIDATES, fragment), {428}),
            ("candidates with another tag", ask("PATCH", place, CANDIDATES, {**fragment, "if-match": '"x"'}), {412}),
            ("candidates of another type", ask("PATCH", place, CANDIDATES, {**sdp, "if-match": tag}), {415}),
            ("a fragment too long", ask("PATCH", place, b"a=x\r\n" * 20_000, {**fragment, "if-match": tag}), {413, 0}),
            ("no fragment", ask("PATCH", place, "hello", {**fragment, "if-match": tag}), {400}),
            ("good candidates", ask("PATCH", place, CANDIDATES, {**fragment, "if-match": tag}), {204}),
            ("the same once more", ask("PATCH", place, CANDIDATES, {**fragment, "if-match": tag}), {204}),
            ("another method", ask("PUT", place, good, sdp), {405}),
            ("a head too long", ask("GET", "/", headers={"x": "a" * 40_000}), {431, 400, 0}),
            ("the end", ask("DELETE", place), {200}),
            ("the end once more", ask("DELETE", place), {200, 404}),
            ("no token", self.server.post(good, token=False), {401}),
            ("no token for a session", ask("DELETE", path + "/0123", token=False), {401}),
            ("another token",
             ask("POST", path, good, {**sdp, "authorization": "Bearer not-it-at-all"}, token=False), {401}),
        ]:
            self.expect(name, got[0], wanted)
        self.alive("bad requests")

    def halves(self):
        """Opens a hundred connections that send half of a request. Measures the time until the server closes them."""
        text = (f"POST {self.server.path} HTTP/1.1\r\nhost: {self.server.host}\r\n"
                "content-type: application/sdp\r\ncontent-length: 4000\r\n")
        text += f"authorization: Bearer {self.server.token}\r\n"
        whole = (text + "\r\n" + self.server.good).encode()
        begun, open_ones = time.monotonic(), []
        for number in range(100):
            connection = self.server.connect()
            connection.sendall(whole[: (number + 1) * min(len(whole), 3900) // 100])
            open_ones.append(connection)
        self.alive("a hundred halves of requests")
        closed = 0
        for connection in open_ones:
            try:
                while connection.recv(4096):
                    pass
                closed += 1
            except ConnectionError:
                closed += 1
            except TimeoutError:
                pass
            connection.close()
        self.expect("connections with half of a request that were closed", closed, {100})
        self.counts["halves_closed_after_s"] = round(time.monotonic() - begun, 1)

    def loris(self):
        """Sends a byte per second until the connection is closed."""
        begun, connection = time.monotonic(), self.server.connect()
        text = (f"POST {self.server.path} HTTP/1.1\r\nhost: {self.server.host}\r\n" + "x-slow: 1\r\n" * 100).encode()
        try:
            for byte in text[:60]:
                connection.sendall(bytes([byte]))
                connection.settimeout(1)
                try:
                    if not connection.recv(1):
                        break
                except TimeoutError:
                    continue
            else:
                self.trouble.append("a byte a second was borne for a minute")
        except ConnectionError:
            pass
        connection.close()
        self.counts["loris_closed_after_s"] = round(time.monotonic() - begun, 1)

    def all(self):
        begun = time.monotonic()
        if self.server.viewers() is None:
            return {"trouble": ["the server does not answer"]}
        aside = [threading.Thread(target=each) for each in (self.halves, self.loris)]
        for thread in aside:
            thread.start()
        self.table()
        # A new publisher replaces the previous one, whose session is then unknown.
        with concurrent.futures.ThreadPoolExecutor(1 if self.server.takes_publishers else 4) as pool:
            offers = collections.Counter(pool.map(self.offer, range(self.options.offers)))
        fragments = self.fragments()
        for thread in aside:
            thread.join()
        for kind, counts in (("offers", offers), ("fragments", fragments)):
            if 0 < len(counts) < 2:
                self.trouble.append(f"all {kind} were answered alike")
        end = time.monotonic() + 20
        while (left := self.server.viewers()) and time.monotonic() < end:
            time.sleep(0.2)
        if left != []:
            self.trouble.append(f"sessions are left: {left}")
        if self.server.closed_early > 1 + self.server.asked // 50:
            self.trouble.append(
                f"{self.server.closed_early} of {self.server.asked} connections were closed before their request")
        return {"trouble": self.trouble, "offers": offers, "fragments": fragments, **self.counts,
                "too_soon": self.server.refused, "closed_early": self.server.closed_early,
                "slowest_answer_s": round(self.server.slowest, 2), "seconds": round(time.monotonic() - begun, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whep.add_options(parser, size="320x240")
    parser.add_argument("--endpoint", choices=["whep", "whip"], default="whep")
    parser.add_argument("--offers", type=int, default=300)
    parser.add_argument("--fragments", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--growth", type=int, default=40_000,
                        help="kilobytes by which the server's memory may grow; a sanitizer needs more")
    options = parser.parse_args()
    with whep.Inlet(options, takes_publishers=options.endpoint == "whip") as inlet:
        fresh = inlet.counts()
        seen = Run(options, inlet).all()
        seen["trouble"] += inlet.growth(fresh, options.growth)
        seen["counts"] = inlet.counts()
        seen["trouble"] += inlet.end()
    print(json.dumps(seen))


main()
