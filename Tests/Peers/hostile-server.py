#!/usr/bin/python3
"""Servers that misbehave on purpose, one kind at a time, for both RTSP and HTTP. See README.md."""

import asyncio
import hashlib
import os
import random
import re
import ssl

import peer

SDP = (
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=hostile\r\nt=0 0\r\na=control:*\r\n"
    "m=video 0 RTP/AVP 96\r\nc=IN IP4 0.0.0.0\r\na=rtpmap:96 H264/90000\r\n"
    "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0LAHtkAoD2hAAADAAEAAAMAPI8WLkg=,aMuMsg==\r\n"
    "a=control:track1\r\n")
PLAYLIST = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n"
KINDS = {}


def kind(name):
    def add(function):
        KINDS[name] = function
        return function

    return add


class Request:
    def __init__(self, head):
        lines = head.decode("latin-1").split("\r\n")
        self.line = lines[0]
        words = lines[0].split(" ")
        self.method, self.target = words[0], words[1] if len(words) > 1 else ""
        self.protocol = "RTSP/1.0" if "RTSP/" in lines[0] else "HTTP/1.1"
        self.headers = dict(
            (name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))

    def reply(self, status="200 OK", headers=(), body=b"", length=None):
        body = body.encode() if isinstance(body, str) else body
        lines = [f"{self.protocol} {status}"]
        if "cseq" in self.headers:
            lines.append(f"CSeq: {self.headers['cseq']}")
        lines += [*headers, f"Content-Length: {len(body) if length is None else length}"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + body

    def description(self, body, length=None):
        """Returns the answer to a request for a description: an SDP description, or a document over HTTP."""
        if self.protocol == "RTSP/1.0":
            return self.reply(
                headers=["Content-Type: application/sdp", f"Content-Base: {self.target}/"], body=body, length=length)
        return self.reply(headers=["Content-Type: application/octet-stream"], body=body, length=length)


def tls(label):
    """Returns a TLS context with a certificate from a new authority, and the authority's certificate."""
    authority, certificate, key = peer.make_certificates(label=label)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, authority


class Hostile:
    def __init__(self, options):
        self.options = options
        self.kind = options.kind
        self.counts = {
            "connections": 0, "bytes": 0, "downgraded": 0, "elsewhere": 0, "file": 0, "credentials": 0, "kept": 0}
        self.requests = []
        self.random = random.Random(options.seed)

    async def run(self):
        context, ready = None, {}
        if self.options.tls:
            context, ready["ca"] = tls(".")
            elsewhere = await asyncio.start_server(self.serve_elsewhere, "127.0.0.1", 0, ssl=tls("elsewhere")[0])
            self.elsewhere_port = elsewhere.sockets[0].getsockname()[1]
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.options.port, ssl=context)
        plain = await asyncio.start_server(self.serve_plain, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.plain_port = plain.sockets[0].getsockname()[1]
        ready.update(port=self.port, plainPort=self.plain_port, kind=self.kind)
        peer.serve(self.options, {"set": self.set, "report": self.report}, ready)
        await asyncio.Event().wait()

    def set(self, message):
        if message["kind"] not in KINDS:
            raise ValueError(f"no kind {message['kind']!r}; there are {', '.join(sorted(KINDS))}")
        self.kind = message["kind"]

    def report(self, _):
        return {**self.counts, "requests": self.requests[-100:]}

    async def serve(self, reader, writer):
        self.counts["connections"] += 1
        try:
            await KINDS[self.kind](self, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def serve_plain(self, reader, writer):
        """Sends the file to clients that were redirected from https to http."""
        self.counts["downgraded"] += 1
        await self.serve_file(reader, writer)

    async def serve_elsewhere(self, reader, writer):
        """Runs another host with the same file and a certificate from another authority."""
        await self.serve_file(reader, writer, "elsewhere")

    async def serve_file(self, reader, writer, counted="file"):
        try:
            while True:
                request = await self.request(reader)
                self.counts[counted] += 1
                self.counts["credentials"] += "authorization" in request.headers
                if self.kind == "redirect-guarded":
                    await self.send(
                        writer, request.reply("401 Unauthorized", ['WWW-Authenticate: Basic realm="elsewhere"']))
                    continue
                await self.send(writer, self.part(request))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def part(self, request):
        """Returns the requested part of the file."""
        with open(self.options.file or os.devnull, "rb") as file:
            whole = file.read()
        start = start_of(request)
        if start is None:
            return request.reply(headers=["Accept-Ranges: bytes"], body=whole)
        headers = ["Accept-Ranges: bytes", f"Content-Range: bytes {start}-{len(whole) - 1}/{len(whole)}"]
        return request.reply("206 Partial Content", headers, whole[start:])

    async def request(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        request = Request(head)
        self.requests = [*self.requests[-199:], request.line]
        await reader.readexactly(int(request.headers.get("content-length") or 0))
        return request

    async def send(self, writer, data):
        writer.write(data)
        await writer.drain()
        self.counts["bytes"] += len(data)

    async def described(self, reader, writer):
        """Answers OPTIONS and returns the request for a description."""
        while True:
            request = await self.request(reader)
            if request.method != "OPTIONS":
                return request
            await self.send(writer, request.reply(headers=["Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN"]))


@kind("black-hole")
async def black_hole(server, reader, writer):
    while await reader.read(65536):
        pass


@kind("close")
async def close(server, reader, writer):
    pass


@kind("endless-header")
async def endless_header(server, reader, writer):
    request = await server.described(reader, writer)
    await server.send(writer, f"{request.protocol} 200 OK\r\nCSeq: {request.headers.get('cseq', 1)}\r\n".encode())
    while True:
        await server.send(writer, b"X-Endless: " + b"a" * 500 + b"\r\n")


@kind("endless-line")
async def endless_line(server, reader, writer):
    request = await server.described(reader, writer)
    await server.send(writer, f"{request.protocol} 200 OK\r\nX-Endless: ".encode())
    while True:
        await server.send(writer, b"a" * 4096)


@kind("huge-body")
async def huge_body(server, reader, writer):
    request = await server.described(reader, writer)
    await server.send(writer, request.description(SDP, length=max(len(SDP), server.options.bytes)))
    line = b"a=x-junk:" + b"a" * 1000 + b"\r\n"
    left = server.options.bytes - len(SDP)
    while left > 0:
        await server.send(writer, (line * 60)[:left])
        left -= len(line) * 60


@kind("long-length")
async def long_length(server, reader, writer):
    """Announces more bytes than it sends, and leaves the connection open."""
    request = await server.described(reader, writer)
    await server.send(writer, request.description(SDP, length=len(SDP) + 1000))
    await black_hole(server, reader, writer)


@kind("short-length")
async def short_length(server, reader, writer):
    request = await server.described(reader, writer)
    await server.send(writer, request.description(SDP, length=20))
    await black_hole(server, reader, writer)


@kind("negative-length")
async def negative_length(server, reader, writer):
    request = await server.described(reader, writer)
    await server.send(writer, request.description(SDP, length=-1))
    await black_hole(server, reader, writer)


@kind("vast-length")
async def vast_length(server, reader, writer):
    request = await server.described(reader, writer)
    await server.send(writer, request.description(SDP, length=2**31 - 2))
    await black_hole(server, reader, writer)


@kind("random")
async def random_bytes(server, reader, writer):
    left = server.options.bytes
    while left > 0:
        await server.send(writer, server.random.randbytes(min(left, 4096)))
        left -= 4096


def start_of(request):
    """Returns the start of a requested range; None if the request has no range."""
    found = re.match(r"bytes=(\d+)-", request.headers.get("range", ""))
    return int(found[1]) if found else None


async def forever(server, reader, writer, status, headers=()):
    while True:
        request = await server.request(reader)
        each = [header.format(nonce=server.random.getrandbits(64)) for header in headers]
        await server.send(writer, request.reply(status, each))


for code, reason in (
    ("403", "Forbidden"), ("404", "Not Found"), ("454", "Session Not Found"), ("503", "Service Unavailable"),
):
    KINDS[code] = lambda server, reader, writer, status=f"{code} {reason}": forever(server, reader, writer, status)
KINDS["401"] = lambda server, reader, writer: forever(
    server, reader, writer, "401 Unauthorized", ['WWW-Authenticate: Digest realm="hostile", nonce="{nonce:x}"'])
KINDS["401-basic"] = lambda server, reader, writer: forever(
    server, reader, writer, "401 Unauthorized", ['WWW-Authenticate: Basic realm="hostile"'])


@kind("slow-loris")
async def slow_loris(server, reader, writer):
    request = await server.request(reader)
    for byte in request.reply(headers=["Public: OPTIONS, DESCRIBE"] + ["X-Slow: " + "a" * 100] * 100):
        await server.send(writer, bytes([byte]))
        await asyncio.sleep(server.options.interval)


@kind("garbage-stream")
async def garbage_stream(server, reader, writer):
    """Speaks correct RTSP up to PLAY, then sends interleaved packets of random bytes, then only random bytes."""
    while True:
        request = await server.described(reader, writer)
        if request.method == "DESCRIBE":
            await server.send(writer, request.description(SDP))
        elif request.method == "SETUP":
            transport = "RTP/AVP/TCP;unicast;interleaved=0-1"
            await server.send(writer, request.reply(headers=[f"Transport: {transport}", "Session: 1"]))
        elif request.method == "PLAY":
            await server.send(writer, request.reply(headers=["Session: 1"]))
            break
        else:
            await server.send(writer, request.reply())
    chance, left = server.random, server.options.bytes
    while left > 0:
        packet = bytes([0x80, 96]) + chance.randbytes(chance.randrange(1, 1400))
        await server.send(writer, b"$\0" + len(packet).to_bytes(2, "big") + packet)
        left -= len(packet)
        if chance.random() < 0.02:
            await server.send(writer, chance.randbytes(100))
        await asyncio.sleep(0.001)


@kind("redirect-endless")
async def redirect_endless(server, reader, writer):
    scheme = "https" if server.options.tls else "http"
    while True:
        request = await server.request(reader)
        scheme = "rtsp" if request.protocol == "RTSP/1.0" else scheme
        target = f"{scheme}://127.0.0.1:{server.port}/{server.random.getrandbits(32)}"
        await server.send(writer, request.reply("302 Found", [f"Location: {target}"]))


async def answer(server, reader, writer, body, content):
    while True:
        request = await server.request(reader)
        await server.send(writer, request.reply(headers=[f"Content-Type: {content}"], body=body))


async def redirect(server, reader, writer, target):
    while True:
        request = await server.request(reader)
        await server.send(writer, request.reply("302 Found", [f"Location: {target}"]))


@kind("redirect-guarded")
async def redirect_guarded(server, reader, writer):
    """Asks for credentials and redirects to /moved, which also asks for them and redirects to another port, which asks
    for them as well."""
    while True:
        request = await server.request(reader)
        scheme = "rtsp" if request.protocol == "RTSP/1.0" else "http"
        if "authorization" not in request.headers:
            await server.send(writer, request.reply("401 Unauthorized", ['WWW-Authenticate: Basic realm="here"']))
        elif request.method == "OPTIONS":
            await server.send(writer, request.reply(headers=["Public: OPTIONS, DESCRIBE"]))
        elif request.target.endswith("/moved"):
            server.counts["kept"] += 1
            target = f"{scheme}://127.0.0.1:{server.plain_port}/elsewhere"
            await server.send(writer, request.reply("302 Found", [f"Location: {target}"]))
        else:
            target = f"{scheme}://127.0.0.1:{server.port}/moved"
            await server.send(writer, request.reply("302 Found", [f"Location: {target}"]))


def playlist(*uris):
    return PLAYLIST + "".join(f"#EXTINF:10,\n{uri}\n" for uri in uris) + "#EXT-X-ENDLIST\n"


HLS = "application/vnd.apple.mpegurl"
KINDS["redirect-plain"] = lambda server, *pair: redirect(server, *pair, f"http://127.0.0.1:{server.plain_port}/")
KINDS["redirect-file"] = lambda server, *pair: redirect(server, *pair, f"file://{server.options.file or '/etc/passwd'}")
KINDS["playlist-file"] = lambda server, *pair: answer(
    server, *pair, playlist(f"file://{server.options.file or '/etc/passwd'}"), HLS)
KINDS["playlist-concat"] = lambda server, *pair: answer(
    server, *pair, playlist(f"concat:{server.options.file or '/etc/passwd'}"), HLS)
KINDS["playlist-plain"] = lambda server, *pair: answer(
    server, *pair, playlist(f"http://127.0.0.1:{server.plain_port}/1.ts"), HLS)
# For text, U+2028 ends a line. For a playlist it doesn't, so this playlist has no segment.
KINDS["playlist-separator"] = lambda server, *pair: answer(
    server, *pair, PLAYLIST + "#EXTINF:10,\u2028segment.ts\n#EXT-X-ENDLIST\n", HLS)
KINDS["playlist-self"] = lambda server, *pair: answer(
    server, *pair, PLAYLIST + "#EXT-X-STREAM-INF:BANDWIDTH=1\nagain.m3u8\n", HLS)


KINDS["playlist-elsewhere"] = lambda server, *pair: answer(
    server, *pair, playlist(f"https://127.0.0.1:{server.elsewhere_port}/1.ts"), HLS)


@kind("playlist-guarded")
async def playlist_guarded(server, reader, writer):
    """Sends a playlist that sets a cookie, and sends segments only with that cookie and the required user agent."""
    while True:
        request = await server.request(reader)
        if request.target.endswith(".m3u8"):
            headers = [f"Content-Type: {HLS}", "Set-Cookie: pass=42; path=/"]
            await server.send(writer, request.reply(headers=headers, body=playlist("1.ts")))
        elif "pass=42" in request.headers.get("cookie", "") and request.headers.get("user-agent") == "Viewer/7":
            await server.send(writer, server.part(request))
        else:
            await server.send(writer, request.reply("403 Forbidden"))


@kind("redirect-seek")
async def redirect_seek(server, reader, writer):
    """Sends the beginning of a file, and redirects requests for the rest to plain HTTP."""
    while True:
        request = await server.request(reader)
        if start_of(request):
            target = f"http://127.0.0.1:{server.plain_port}/"
            await server.send(writer, request.reply("302 Found", [f"Location: {target}"]))
        else:
            await server.send(writer, server.part(request))


@kind("chunked")
async def chunked(server, reader, writer):
    """Sends a file without its length."""
    request = await server.request(reader)
    head = f"{request.protocol} 200 OK\r\nContent-Type: video/mp2t\r\nTransfer-Encoding: chunked\r\n\r\n"
    await server.send(writer, head.encode())
    with open(server.options.file, "rb") as file:
        while piece := file.read(10_000):
            await server.send(writer, f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    await server.send(writer, b"0\r\n\r\n")


@kind("short-body")
async def short_body(server, reader, writer):
    """Sends a file that ends in the middle, and the rest if the client requests it."""
    request = await server.request(reader)
    with open(server.options.file, "rb") as file:
        whole = file.read()
    start = start_of(request) or 0
    end = len(whole) if start else len(whole) // 2
    head = (f"{request.protocol} 206 Partial Content\r\nAccept-Ranges: bytes\r\n"
            f"Content-Range: bytes {start}-{len(whole) - 1}/{len(whole)}\r\n")
    await server.send(writer, f"{head}Content-Length: {len(whole) - start}\r\n\r\n".encode() + whole[start:end])


@kind("digest")
async def digest(server, reader, writer):
    """Sends a file to the user viewer with the password secret, by Digest (RFC 7616)."""

    def md5(*parts):
        return hashlib.md5(":".join(parts).encode()).hexdigest()

    while True:
        request = await server.request(reader)
        given = dict(re.findall(r'(\w+)="?([^",]+)"?', request.headers.get("authorization", "")))
        if given:
            wanted = md5(
                md5("viewer", "here", "secret"), "4711", given["nc"], given["cnonce"], "auth",
                md5(request.method, request.target))
            if given.get("response") == wanted:
                server.counts["kept"] += 1
                await server.send(writer, server.part(request))
                continue
        await server.send(
            writer,
            request.reply("401 Unauthorized", ['WWW-Authenticate: Digest realm="here", qop="auth", nonce="4711"']))


@kind("capped-range")
async def capped_range(server, reader, writer):
    """Sends at most 100,000 bytes of a file for each request, whatever its range (RFC 9110, 15.3.7)."""
    with open(server.options.file, "rb") as file:
        whole = file.read()
    while True:
        start = start_of(await server.request(reader)) or 0
        part = whole[start:start + 100_000]
        head = f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{start + len(part) - 1}/{len(whole)}\r\n"
        await server.send(writer, f"{head}Content-Length: {len(part)}\r\n\r\n".encode() + part)


@kind("failing-rest")
async def failing_rest(server, reader, writer):
    """Sends a file that ends in the middle.

    Refuses the first request for the rest, answers the second with the whole file, and the third with the rest.
    """
    request = await server.request(reader)
    with open(server.options.file, "rb") as file:
        whole = file.read()
    start, half = start_of(request) or 0, len(whole) // 2
    if start == half:
        server.counts["file"] += 1
        if server.counts["file"] == 1:
            return await server.send(writer, request.reply("503 Service Unavailable", body="later"))
        if server.counts["file"] == 2:
            return await server.send(writer, request.reply("200 OK", body=whole))
    end = half if start < half else len(whole)
    head = f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{len(whole) - 1}/{len(whole)}\r\n"
    await server.send(writer, f"{head}Content-Length: {len(whole) - start}\r\n\r\n".encode() + whole[start:end])


@kind("open-redirect")
async def open_redirect(server, reader, writer):
    """Redirects to /there, with an endless body in the answer."""
    while True:
        request = await server.request(reader)
        if request.target.endswith("/there"):
            await server.send(writer, server.part(request))
        else:
            await server.send(writer, b"HTTP/1.1 302 Found\r\nLocation: there\r\n\r\nover there")
            await asyncio.sleep(600)


@kind("open-refusal")
async def open_refusal(server, reader, writer):
    """Asks for credentials and accepts none. The body of the first answer ends; that of the second doesn't."""
    request = await server.request(reader)
    await server.send(writer, request.reply("401 Unauthorized", ['WWW-Authenticate: Basic realm="here"']))
    await server.request(reader)
    server.counts["credentials"] += 1
    await server.send(writer, b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="here"\r\n\r\nno')
    await asyncio.sleep(600)


KINDS["playlist-range"] = lambda server, *pair: answer(
    server, *pair,
    PLAYLIST + "#EXT-X-BYTERANGE:0@-9223372036854775808\n#EXTINF:10,\n1.ts\n"
    "#EXT-X-BYTERANGE:9223372036854775807@1\n#EXTINF:10,\n1.ts\n#EXT-X-ENDLIST\n",
    HLS)


@kind("raw-file")
async def raw_file(server, reader, writer):
    with open(server.options.file, "rb") as file:
        await server.send(writer, file.read())


@kind("playlist-endless")
async def playlist_endless(server, reader, writer):
    request = await server.request(reader)
    await server.send(writer, f"{request.protocol} 200 OK\r\nContent-Type: {HLS}\r\n\r\n{PLAYLIST}".encode())
    number = 0
    while True:
        await server.send(writer, "".join(f"#EXTINF:10,\n{number + each}.ts\n" for each in range(1000)).encode())
        number += 1000


@kind("file-then-garbage")
async def file_then_garbage(server, reader, writer):
    """Sends the first half of a file over HTTP, then random bytes."""
    request = await server.request(reader)
    with open(server.options.file, "rb") as file:
        whole = file.read()
    half = len(whole) // 2
    body = whole[:half] + server.random.randbytes(len(whole) - half)
    await server.send(writer, request.reply(headers=["Content-Type: video/mp2t", "Accept-Ranges: none"], body=body))


if __name__ == "__main__":
    parser = peer.parser(__doc__)
    parser.add_argument("--kind", choices=sorted(KINDS), default="black-hole")
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    parser.add_argument("--tls", action="store_true", help="TLS with a certificate from a new authority")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=100_000_000, help="size of huge-body, random and garbage-stream")
    parser.add_argument("--interval", type=float, default=1, help="seconds between two bytes of slow-loris")
    parser.add_argument("--file", help="the absolute path of the file that some kinds serve or refer to")
    asyncio.run(Hostile(parser.parse_args()).run())
