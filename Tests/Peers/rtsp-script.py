#!/usr/bin/python3
"""An RTSP server that sends a raw H.264 file over TCP or UDP, with one or several faults of real cameras.

See README.md.

It reports each request, each received RTCP packet, and the time when the last byte of each picture was sent:
{"event": "request", "method": "PLAY", ...}, {"event": "rtcp", "hex": ...},
{"event": "sent", "picture": 3, "time": ...}.
With --withhold a picture is sent only on command: {"command": "next", "count": 1}.
{"command": "report"} is answered after all earlier events are reported.
"""

import base64
import hashlib
import random
import re
import select
import socket
import struct
import threading
import time

import namespaces
import peer

MUTATIONS = {
    "marker-never": "the marker is never set",
    "marker-slices": "the marker is set on every slice",
    "marker-parameters": "the marker is set on parameter sets",
    "parameters-previous-time": "parameter sets have the timestamp of the picture before",
    "fu-no-end": "no fragment has the end bit",
    "fu-both": "small slices are fragments with both bits set",
    "annexb-in-fu": "the units of a picture are one fragmented unit with start codes inside",
    "swapped-channels": "RTP comes on the odd channel, RTCP on the even one",
    "renumbered": "the reply to SETUP names other channels than were asked for",
    "foreign-type": "each packet is followed by one of payload type 50 with the same sequence number",
    "foreign-ssrc": "five packets of another session come before each picture",
    "cut-bytes": "100 bytes of every tenth picture are missing in mid-frame; TCP only",
    "stray-replies": "replies without CSeq come between the frames; TCP only",
    "early-picture": "the first picture comes before the reply to PLAY",
    "one-byte": "the control connection is written byte by byte",
    "loss": "packets are lost; UDP only",
    "duplicate": "packets come twice; UDP only",
    "reorder": "packets come after their followers; UDP only",
    "time-once": "the tenth picture is stamped 10,000 s ahead",
    "time-jump": "from the tenth picture on all are stamped 10,000 s ahead",
    "sequence-wrap": "the sequence numbers begin shortly before their wrap",
    "time-wrap": "the timestamps begin a second before their wrap",
    "padding": "packets have padding",
    "csrc": "packets have three contributing sources",
    "extension-replay": "packets have the header extension of ONVIF's replay",
    "extension-jpeg": "packets have a header extension with the number 0xFFD8",
    "options-first": "a connection whose first request is not OPTIONS is closed without an answer",
    "report-foreign": "sender reports are of another source",
    "report-unset": "sender reports state the time since 1970 of a clock that was never set",
}
SOURCE, OLD_SOURCE = 0x1234ABCD, 0x0BADCAFE
AHEAD = 10_000 * 90_000
ENDS = ["close", "reset", "bye", "lone-bye", "silence"]
REASONS = {200: "OK", 302: "Moved Temporarily", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed",
           453: "Not Enough Bandwidth", 454: "Session Not Found", 461: "Unsupported Transport", 501: "Not Implemented",
           503: "Service Unavailable"}


def pictures(path):
    """Returns the pictures of a raw file, each as a list of its NAL units."""
    with open(path, "rb") as file:
        data = file.read()
    starts = [found.end() for found in re.finditer(b"\0\0\1", data)] + [len(data) + 3]
    found, has_slice = [[]], False
    for start, end in zip(starts, starts[1:]):
        unit = data[start:end - 3].rstrip(b"\0")
        if len(unit) < 2:
            continue
        if has_slice and (not is_slice(unit) or unit[1] & 0x80):
            found.append([])
            has_slice = False
        found[-1].append(unit)
        has_slice = has_slice or is_slice(unit)
    return found


def is_slice(unit):
    return unit[0] & 31 in (1, 5)


def is_parameters(unit):
    return unit[0] & 31 in (7, 8)


class Stream:
    """The RTP packets of a session, picture by picture."""

    def __init__(self, options, file):
        self.options, self.file, self.mutations = options, file, set(options.mutation)
        self.sequence = 65_500 if "sequence-wrap" in self.mutations else 100
        self.first = 2**32 - 90_000 if "time-wrap" in self.mutations else 1000
        self.old_sequence = 9000
        self.count = self.bytes = 0

    def time(self, index):
        jumps = index == 10 and "time-once" in self.mutations or index >= 10 and "time-jump" in self.mutations
        return (self.first + round(index * 90_000 / self.options.fps) + AHEAD * jumps) % 2**32

    def fragments(self, unit):
        """Returns payloads by RFC 6184, section 5.8: the unit itself or its fragments, each with a flag for the last
        one."""
        both = "fu-both" in self.mutations and is_slice(unit)
        if len(unit) <= self.options.mtu and not both:
            return [unit]
        parts = [unit[at:at + self.options.mtu] for at in range(1, len(unit), self.options.mtu)]
        end = 0 if "fu-no-end" in self.mutations else 0x40
        return [bytes([unit[0] & 0xE0 | 28, (at == 0) << 7 | (at == len(parts) - 1) * end | unit[0] & 31]) + part
                for at, part in enumerate(parts)]

    def packets(self, index):
        """Returns the packets of a picture."""
        units, mutations, made = self.file[index % len(self.file)], self.mutations, []
        if "annexb-in-fu" in mutations:
            units = [unit for unit in units if is_parameters(unit)] + [
                b"\0\0\0\1".join(unit for unit in units if not is_parameters(unit))]
        if "foreign-ssrc" in mutations:
            for _ in range(5):
                made.append(
                    struct.pack(">BBHII", 0x80, 96, self.old_sequence & 0xFFFF, 5000 + index, OLD_SOURCE)
                    + b"\x41\x9a\0\0")
                self.old_sequence += 1
        for place, unit in enumerate(units):
            payloads = self.fragments(unit)
            for number, payload in enumerate(payloads):
                ends = number == len(payloads) - 1
                marker = ends and (
                    place == len(units) - 1 or "marker-slices" in mutations and is_slice(unit)
                    or "marker-parameters" in mutations and is_parameters(unit))
                stamp = (index - 1 if "parameters-previous-time" in mutations and is_parameters(unit) and index > 0
                         else index)
                made.append(self.packet(
                    payload, marker and "marker-never" not in mutations, self.time(stamp),
                    5 in [each[0] & 31 for each in units]))
                if "foreign-type" in mutations:
                    made.append(made[-1][:1] + bytes([50]) + made[-1][2:])
        return made

    def packet(self, payload, marker, stamp, is_key):
        first, head, tail = 0x80, b"", b""
        if "csrc" in self.mutations:
            first, head = first | 3, struct.pack(">III", 1, 2, 3)
        if "extension-replay" in self.mutations:
            now = time.time() + 2_208_988_800
            first, head = first | 0x10, head + struct.pack(
                ">HHIIBBH", 0xABAC, 3, int(now), int(now % 1 * 2**32), is_key << 7, 4, 0)
        elif "extension-jpeg" in self.mutations:
            first, head = first | 0x10, head + struct.pack(">HHI", 0xFFD8, 1, 0)
        if "padding" in self.mutations:
            first, tail = first | 0x20, b"\0" * 6 + b"\7"
        made = (struct.pack(">BBHII", first, 96 | marker << 7, self.sequence & 0xFFFF, stamp, SOURCE)
                + head + payload + tail)
        self.sequence += 1
        self.count += 1
        self.bytes += len(payload)
        return made

    def report(self, index):
        now = (time.monotonic() if "report-unset" in self.mutations else time.time()) + 2_208_988_800
        source = OLD_SOURCE if "report-foreign" in self.mutations else SOURCE
        name = b"\1\6camera\0\0"
        return struct.pack(
            ">BBHIIIIII", 0x80, 200, 6, source, int(now), int(now % 1 * 2**32), self.time(index), self.count,
            self.bytes) + \
            struct.pack(">BBHI", 0x81, 202, 1 + (len(name) + 3) // 4, source) + name + b"\0" * (-len(name) % 4)


class Connection:
    def __init__(self, server, connection, number):
        self.server, self.options, self.socket, self.number = server, server.options, connection, number
        self.mutations = set(self.options.mutation)
        self.lock = threading.Lock()
        self.is_over = threading.Event()
        self.session = self.nonce = None
        self.channels, self.ports, self.udp = (0, 1), None, None
        self.nonce_uses = self.requests = 0
        self.alive = time.monotonic()
        # The description and the pictures may change between connections.
        is_later = number > 1 and server.later is not None
        self.file = server.later if is_later else server.file
        self.codec = self.options.later_codec if number > 1 else "H264"
        self.stream = Stream(self.options, self.file)
        self.is_paused = threading.Event()
        self.has_begun = self.is_multicast = self.has_redirected = False

    def write(self, data):
        with self.lock:
            if "one-byte" in self.mutations:
                for at in range(len(data)):
                    self.socket.sendall(data[at:at + 1])
            else:
                self.socket.sendall(data)

    # Requests.

    def run(self):
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.say({"event": "connected", "connection": self.number})
        buffer = b""
        try:
            while not self.is_over.is_set():
                buffer = self.take(buffer)
                if not select.select([self.socket], [], [], 0.1)[0]:
                    continue
                read = self.socket.recv(65_536)
                if not read or len(buffer) > 1 << 20:
                    break
                buffer += read
        except OSError:
            pass
        self.is_over.set()
        peer.say({"event": "closed", "connection": self.number})
        for each in [self.socket, *(self.udp or [])]:
            each.close()

    def take(self, buffer):
        while True:
            buffer = buffer.lstrip(b"\r\n") if not buffer.startswith(b"$") else buffer
            if buffer.startswith(b"$"):
                if len(buffer) < 4 or len(buffer) < 4 + int.from_bytes(buffer[2:4], "big"):
                    return buffer
                size = 4 + int.from_bytes(buffer[2:4], "big")
                self.note_control(buffer[4:size], buffer[1])
                buffer = buffer[size:]
                continue
            head, found, rest = buffer.partition(b"\r\n\r\n")
            if not found:
                return buffer
            lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines[1:])}
            size = int(headers.get("content-length", "0"))
            if len(rest) < size:
                return buffer
            buffer = rest[size:]
            method, url, *_ = lines[0].split(" ") + ["", ""]
            if method.startswith("RTSP/"):
                peer.say({"event": "answer", "connection": self.number, "status": int(url), "headers": headers})
                continue
            peer.say({"event": "request", "connection": self.number, "method": method, "url": url, "headers": headers,
                      "body": rest[:size].decode("latin-1"), "time": time.monotonic_ns()})
            self.answer(method, url, headers)

    def note_control(self, packet, channel=None):
        if "rtcp" in self.options.alive_by.lower().split(","):
            self.alive = time.monotonic()
        peer.say({"event": "rtcp", "connection": self.number, "channel": channel, "hex": packet.hex()})

    def answer(self, method, url, headers):
        status, fields, body = 200, [], ""
        self.requests += 1
        if "options-first" in self.mutations and self.requests == 1 and method != "OPTIONS":
            return self.is_over.set()
        refused = self.server.refusal(method)
        if refused:
            status = refused
        elif not self.is_authorized(method, url, headers):
            status, fields = 401, self.challenges()
        elif headers.get("session", "").partition(";")[0] not in ("", self.session):
            status = 454
        elif method == "OPTIONS":
            fields = ["Public: " + self.options.public]
        elif method == "DESCRIBE" and self.options.redirect and not url.endswith("/moved"):
            status, fields = 302, [
                "Location: "
                f"{self.options.redirect if '://' in self.options.redirect else self.server.url + '/moved'}"]
        elif method == "DESCRIBE":
            body = self.server.description(self.file, self.codec)
            fields = ["Content-Type: application/sdp", f"Content-Base: {url.rstrip('/')}/"]
        elif method == "SETUP":
            status, fields = self.set_up(headers.get("transport", ""))
        elif method in ("PLAY", "TEARDOWN") and self.session is None:
            status = 454
        elif method == "PLAY":
            fields = ["Range: npt=0.000-",
                      f"RTP-Info: url={url};seq={self.stream.sequence & 0xFFFF};rtptime={self.stream.first}"]
        elif method not in ("TEARDOWN", "GET_PARAMETER", "SET_PARAMETER", "PAUSE"):
            status = 501
        if method.upper() in self.options.alive_by.split(","):
            self.alive = time.monotonic()
        if self.session and status == 200 and method != "OPTIONS":
            fields.append(f"Session: {self.session};timeout={self.options.session_timeout}")
        if body:
            fields.append(f"Content-Length: {len(body)}")
        self.is_over.wait(self.server.delays.get(method, 0))
        begins = method == "PLAY" and status == 200 and not self.has_begun
        if method == "PLAY" and status == 200:
            self.has_begun = True
            self.is_paused.clear()
        if begins and "early-picture" in self.mutations:
            self.server.allowance.acquire()
            if not self.options.withhold:
                self.server.allowance.release()
            self.send_picture(0)
        head = [f"RTSP/1.0 {status} {REASONS.get(status, 'Refused')}", f"CSeq: {headers.get('cseq', '')}", *fields,
                "", body]
        self.write("\r\n".join(head).encode())
        if status == 401 and "authorization" in headers and self.options.end_refused:
            self.end(self.options.end_refused)
        if begins:
            self.alive = time.monotonic()
            threading.Thread(
                target=self.play, args=(1 if "early-picture" in self.mutations else 0,), daemon=True).start()
        if method == "PAUSE" and status == 200:
            self.is_paused.set()
        if method == "TEARDOWN" and status == 200:
            self.is_over.set()

    def set_up(self, transport):
        is_tcp = "interleaved" in transport or "/TCP" in transport.upper()
        is_mute = "multicast" in transport and self.options.mute_multicast
        refused = "udp" if is_tcp else "tcp"
        if self.options.transport == refused and not is_mute:
            return 461, []
        self.session = self.session or f"{random.getrandbits(32):08X}"
        self.is_multicast = is_mute
        if is_mute:
            return 200, ["Transport: RTP/AVP;multicast;destination=239.255.42.99;port=47100-47101;ttl=1"]
        if is_tcp:
            asked = re.search(r"interleaved=(\d+)-(\d+)", transport)
            self.channels = (int(asked[1]), int(asked[2])) if asked else (0, 1)
            if "renumbered" in self.mutations:
                self.channels = (8, 9)
            return 200, [
                f"Transport: RTP/AVP/TCP;unicast;interleaved={self.channels[0]}-{self.channels[1]};ssrc={SOURCE:08X}"]
        asked = re.search(r"client_port=(\d+)-(\d+)", transport)
        if not asked:
            return 461, []
        self.ports = (int(asked[1]), int(asked[2]))
        self.udp = self.udp or self.server.pair()
        threading.Thread(target=self.read_datagrams, daemon=True).start()
        own = "-".join(str(each.getsockname()[1]) for each in self.udp)
        return 200, [
            f"Transport: RTP/AVP;unicast;client_port={asked[1]}-{asked[2]};server_port={own};ssrc={SOURCE:08X}"]

    def read_datagrams(self):
        while not self.is_over.is_set():
            try:
                for each in select.select(self.udp, [], [], 0.1)[0]:
                    self.note_control(each.recv(2048), "rtp" if each is self.udp[0] else "rtcp")
            except (OSError, ValueError):
                return

    # Authentication (RFC 2069, RFC 7616).

    def challenges(self):
        realm, kinds = "camera", {
            "several": ["basic", "md5", "sha256"], "md5-of-two": ["sha256", "md5"],
        }.get(self.options.auth, [self.options.auth])
        self.nonce, self.nonce_uses = f"{random.getrandbits(64):016x}", 0
        texts = {
            "basic": f'Basic realm="{realm}"',
            "md5": f'Digest realm="{realm}", nonce="{self.nonce}"',
            "sha256": f'Digest realm="{realm}", nonce="{self.nonce}", algorithm=SHA-256',
        }
        if self.options.auth_one_line:
            return ["WWW-Authenticate: " + ", ".join(texts[kind] for kind in kinds)]
        return ["WWW-Authenticate: " + texts[kind] for kind in kinds]

    def is_authorized(self, method, url, headers):
        options, given = self.options, headers.get("authorization", "")
        if options.auth == "none":
            return True
        if given.lower().startswith("basic "):
            expected = base64.b64encode(f"{options.user}:{options.password}".encode()).decode()
            return options.auth in ("basic", "several") and given[6:].strip() == expected
        fields = {
            name.lower(): quoted or plain
            for name, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^,\s]*))', given)}
        self.nonce_uses += 1
        if (not self.nonce or fields.get("nonce") != self.nonce
                or options.nonce_every and self.nonce_uses > options.nonce_every):
            return False
        is_sha = fields.get("algorithm", "MD5").upper() == "SHA-256"
        if options.auth == "basic" or options.auth != "several" and is_sha != (options.auth == "sha256"):
            return False

        def digest(text):
            return (hashlib.sha256 if is_sha else hashlib.md5)(text.encode()).hexdigest()

        middle = f":{fields.get('nc', '')}:{fields.get('cnonce', '')}:{fields['qop']}" if "qop" in fields else ""
        expected = digest(
            f"{digest(f'{options.user}:camera:{options.password}')}:{self.nonce}{middle}:{digest(f'{method}:{url}')}")
        return fields.get("uri") == url and fields.get("response") == expected

    # Pictures.

    def play(self, index):
        start, reported = time.monotonic() - index / self.options.fps, -10.0
        try:
            while not self.is_over.is_set() and (self.options.pictures == 0 or index < self.options.pictures):
                if self.is_paused.is_set() or self.is_multicast:
                    self.is_over.wait(0.05)
                    self.end_if_silent()
                    continue
                if not self.server.allowance.acquire(timeout=0.1):
                    self.end_if_silent()
                    continue
                if not self.options.withhold:
                    self.server.allowance.release()
                    if self.is_over.wait(max(0, start + index / self.options.fps - time.monotonic())):
                        break
                if time.monotonic() - reported > 5 and self.options.reports:
                    reported = time.monotonic()
                    self.send(self.stream.report(index), is_control=True)
                self.send_picture(index)
                if self.options.redirect_later and index >= 5 and not self.has_redirected:
                    self.has_redirected = True
                    self.write(f"REDIRECT {self.server.url} RTSP/1.0\r\nCSeq: 77\r\n"
                               f"Location: {self.options.redirect_later}\r\n\r\n".encode())
                self.end_if_silent()
                index += 1
        except OSError:
            self.is_over.set()

    def end_if_silent(self):
        if self.options.alive_by and time.monotonic() - self.alive > self.options.session_timeout:
            peer.say({"event": "expired", "connection": self.number})
            self.end(self.options.end_by)

    def end(self, way):
        """Ends the session without a request."""
        if way == "close":
            self.is_over.set()
        elif way == "reset":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.is_over.set()
        else:
            if way in ("bye", "lone-bye"):
                # A BYE without the report that RFC 3550 requires before it is the shortest possible RTCP packet.
                report = self.stream.report(0) if way == "bye" else b""
                self.send(report + struct.pack(">BBHI", 0x81, 203, 1, SOURCE), is_control=True)
            # The connection stays open, and requests in the session get 454.
            self.session = "ended"
            self.alive = float("inf")
            self.is_paused.set()

    def send_picture(self, index):
        packets = self.stream.packets(index)
        if self.ports:
            packets = self.server.disturb(packets, self.mutations)
        cuts = "cut-bytes" in self.mutations and index % 10 == 9 and not self.ports
        # If only a pause marks a picture's end, this program must not pause within a picture.
        is_whole = not self.ports and self.mutations & {"marker-never", "marker-slices"}
        if is_whole and not self.mutations & {"one-byte", "stray-replies", "cut-bytes"}:
            self.write(b"".join(self.interleaved(packet) for packet in packets))
            packets, sent = [], len(packets)
        else:
            sent = len(packets)
        for place, packet in enumerate(packets):
            self.send(packet, cut=100 if cuts and place == len(packets) // 2 else 0)
            if "stray-replies" in self.mutations and not self.ports:
                self.write(f"RTSP/1.0 200 OK\r\nSession: {self.session}\r\n\r\n".encode())
        peer.say({"event": "sent", "connection": self.number, "picture": index, "time": time.monotonic_ns(),
                  "packets": sent})

    def send(self, packet, is_control=False, cut=0):
        if self.ports:
            host, _, *zone = self.socket.getpeername()
            self.udp[is_control].sendto(packet, (host, self.ports[is_control], *zone))
            return
        frame = self.interleaved(packet, is_control)
        self.write(frame[:len(frame) - min(cut, len(packet))] if cut else frame)

    def interleaved(self, packet, is_control=False):
        channel = self.channels[is_control != ("swapped-channels" in self.mutations)]
        return b"$" + struct.pack(">BH", channel, len(packet)) + packet


class Server:
    def __init__(self, options):
        self.options = options
        self.file = pictures(options.file)
        self.random = random.Random(options.seed)
        self.allowance = threading.Semaphore(0 if options.withhold else 1)
        self.delays = {method: float(seconds) for method, _, seconds in (each.partition("=") for each in options.delay)}
        self.refusals = {}
        for each in options.status:
            method, status, times = re.fullmatch(r"(\w+)=(\d+)(?::(\d+))?", each).groups()
            self.refusals[method] = [int(status), int(times or 1 << 30)]
        self.later = pictures(options.later_file) if options.later_file else None
        self.connections = []
        self.url = ""

    def refusal(self, method):
        status, times = self.refusals.get(method, (0, 0))
        if times:
            self.refusals[method][1] -= 1
        return status if times else 0

    def description(self, file, codec):
        sets = [base64.b64encode(unit).decode() for unit in file[0] if is_parameters(unit)]
        sprop = "" if self.options.no_parameters else ";sprop-parameter-sets=" + ",".join(sets)
        lines = ["v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=script", "c=IN IP4 0.0.0.0", "t=0 0", "a=control:*",
                 "m=video 0 RTP/AVP 96", f"a=rtpmap:96 {codec}/90000", f"a=fmtp:96 packetization-mode=1{sprop}",
                 "a=control:track0"]
        return "\r\n".join(lines) + "\r\n"

    def pair(self):
        """Returns two sockets on an even port and the next one (RFC 3550, section 11)."""
        while True:
            port = peer.free_port(socket.SOCK_DGRAM) & ~1
            family, address = self.place()
            made = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(2)]
            try:
                for offset, each in enumerate(made):
                    each.bind((address, port + offset))
                return made
            except OSError:
                for each in made:
                    each.close()

    def place(self):
        return (socket.AF_INET6, "::") if self.options.isolated else (socket.AF_INET, "127.0.0.1")

    def disturb(self, packets, mutations):
        made = []
        for packet in packets:
            chance = self.random.random() * 100 < self.options.percent
            if chance and "loss" in mutations:
                continue
            made.append(packet)
            if chance and "duplicate" in mutations:
                made.append(packet)
            if chance and "reorder" in mutations and len(made) > 1:
                made[-2:] = made[:-3:-1]
        return made

    def run(self):
        clients = namespaces.isolate() if self.options.isolated else None
        family, address = self.place()
        listener = socket.create_server((address, self.options.port), family=family)
        port = listener.getsockname()[1]
        self.url = f"rtsp://{'[fe80::77:1]' if clients else address}:{port}/stream"
        commands = {"next": self.next, "report": lambda message: None, "end": self.end}
        peer.serve(self.options, commands, {
            "port": port, "url": self.url, "pictures": len(self.file), "clients": clients})
        number = 0
        while True:
            connection, _ = listener.accept()
            number += 1
            self.connections.append(Connection(self, connection, number))
            threading.Thread(target=self.connections[-1].run, daemon=True).start()

    def end(self, message):
        for each in self.connections:
            each.end(message["by"])

    def next(self, message):
        self.allowance.release(int(message.get("count", 1)))


if __name__ == "__main__":
    parser = peer.parser(__doc__)
    parser.add_argument("--file", required=True, help="raw H.264 (Annex B), sent repeatedly")
    parser.add_argument("--mutation", action="append", default=[], choices=sorted(MUTATIONS), metavar="NAME",
                        help="; ".join(f"{name}: {what}" for name, what in MUTATIONS.items()))
    parser.add_argument("--transport", choices=["tcp", "udp", "all"], default="all",
                        help="the transport that SETUP accepts; 461 for the other")
    parser.add_argument("--withhold", action="store_true", help="send a picture only on the command `next`")
    parser.add_argument("--fps", type=float, default=25)
    parser.add_argument("--pictures", type=int, default=0, help="the number of pictures to send; 0 sends for ever")
    parser.add_argument("--mtu", type=int, default=1200, help="the bytes of a payload without its header")
    parser.add_argument("--seed", type=int, default=1, help="of what happens to datagrams")
    parser.add_argument("--percent", type=float, default=5, help="of datagrams that it happens to")
    parser.add_argument("--reports", type=int, default=1, help="whether sender reports are sent")
    parser.add_argument(
        "--auth", choices=["none", "basic", "md5", "sha256", "several", "md5-of-two"], default="none",
        help="several accepts each that it offers; md5-of-two offers SHA-256, too, and refuses it")
    parser.add_argument(
        "--end-refused", choices=["", "close", "reset"], default="",
        help="how the connection ends after refused credentials")
    parser.add_argument("--auth-one-line", action="store_true", help="all challenges in one header")
    parser.add_argument("--nonce-every", type=int, default=0,
                        help="the number of requests after which a nonce is refused; 0 keeps it")
    parser.add_argument("--user", default="camera")
    parser.add_argument("--password", default="secret")
    parser.add_argument("--redirect", default="",
                        help="the redirect target of DESCRIBE: an address, or any word for this server")
    parser.add_argument("--status", action="append", default=[], metavar="METHOD=STATUS[:TIMES]",
                        help="the status for a method, as in DESCRIBE=503:2")
    parser.add_argument("--delay", action="append", default=[], metavar="METHOD=SECONDS",
                        help="the delay of a method's answer in seconds, as in PLAY=1.5")
    parser.add_argument("--isolated", action="store_true",
                        help="listen in a separate network, at fe80::77:1; the ready line names the process whose "
                             "network the clients must join. Needs root")
    parser.add_argument("--public", default="OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER",
                        help="the methods that OPTIONS states")
    parser.add_argument("--session-timeout", type=int, default=60, help="the timeout that SETUP states, in seconds")
    parser.add_argument("--alive-by", default="",
                        help="methods, or RTCP, that keep a session alive; without any it never ends")
    parser.add_argument("--no-parameters", action="store_true", help="omit parameter sets in the description")
    parser.add_argument("--end-by", choices=ENDS, default="close", help="how a session ends without a sign of life")
    parser.add_argument("--redirect-later", default="", help="the redirect target after five pictures")
    parser.add_argument("--later-file", default="", help="raw H.264 for the second connection and later ones")
    parser.add_argument("--later-codec", default="H264", help="the described codec from the second connection on")
    parser.add_argument("--mute-multicast", action="store_true", help="accept multicast, but send nothing by it")
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    Server(parser.parse_args()).run()
