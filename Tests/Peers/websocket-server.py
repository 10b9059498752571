#!/usr/bin/env python3
"""WebSocket servers: a correct one with aiohttp, with and without TLS, and one of raw bytes that misbehaves by name.

See README.md. Needs aiohttp from PyPI.

With aiohttp: /echo returns every message, /many?count=N&size=S sends texts, /close?code=N&reason=TEXT ends at once,
/headers sends the request's headers as JSON, /status/N answers with that status, /silent never answers.
At the raw port the path selects the misbehaviour: see `tricks`.
"""
import asyncio
import base64
import hashlib
import json
import ssl
import struct

from aiohttp import WSMsgType, web

import peer

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


async def echo(request):
    socket = web.WebSocketResponse(protocols=["second", "first"], max_msg_size=1 << 24)
    await socket.prepare(request)
    async for message in socket:
        if message.type == WSMsgType.TEXT:
            await socket.send_str(message.data)
        elif message.type == WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    SEEN["code"] = socket.close_code
    return socket


async def many(request):
    # The server sends a close frame after the messages and breaks the connection if the answer takes longer than the
    # timeout. The default is 10 s, which a client on a busy machine may need to read the pending messages.
    socket = web.WebSocketResponse(timeout=120)
    await socket.prepare(request)
    for number in range(int(request.query["count"])):
        await socket.send_str(f"{number}:".ljust(int(request.query["size"]), "x"))
    await socket.close()
    return socket


async def close(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.close(code=int(request.query["code"]), message=request.query["reason"].encode())
    return socket


async def headers(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.send_str(json.dumps({name.lower(): value for name, value in request.headers.items()}))
    await socket.close()
    return socket


async def status(request):
    code = int(request.match_info["code"])
    extra = {"retry-after": "7"} if code in (429, 503) else {}
    if 300 <= code < 400:
        extra["location"] = "http://192.0.2.1/"
    return web.Response(status=code, text="told by the server", headers=extra)


async def silent(request):
    await asyncio.sleep(3600)


def frame(opcode, content=b"", fin=True, bits=0, mask=False):
    head = bytes([(0x80 if fin else 0) | bits | opcode])
    length, masked = len(content), 0x80 if mask else 0
    if length < 126:
        head += bytes([masked | length])
    elif length < 65536:
        head += bytes([masked | 126]) + struct.pack("!H", length)
    else:
        head += bytes([masked | 127]) + struct.pack("!Q", length)
    return head + (b"\0\0\0\0" if mask else b"") + content


def split():
    """Returns a text split into fragments within a character, with a ping and a pong between them."""
    text = "größe".encode()
    parts = [frame(1, text[:3], fin=False), frame(9, b"in between"), frame(0, b"", fin=False), frame(10),
             frame(0, text[3:])]
    return b"".join(parts)


# The bytes sent after the opening handshake.
tricks = {
    "masked": frame(1, b"text", mask=True),
    "reserved-bit": frame(1, b"text", bits=0x40),
    "unknown-opcode": frame(3, b"text"),
    "unknown-control": frame(11, b"text"),
    "fragmented-control": frame(9, b"", fin=False),
    "long-control": frame(9, b"x" * 126),
    "bad-text": frame(1, b"\xc3\x28"),
    "surrogate-text": frame(1, b"\xed\xa0\x80"),
    "half-code": frame(8, b"\x03"),
    "code-1005": frame(8, struct.pack("!H", 1005)),
    "code-999": frame(8, struct.pack("!H", 999)),
    "bad-reason": frame(8, struct.pack("!H", 1000) + b"\xff"),
    "huge-frame": b"\x82\x7f" + struct.pack("!Q", 1 << 62),
    "negative-frame": b"\x82\x7f" + b"\xff" * 8,
    "long-message": frame(2, b"x" * 60000, fin=False) + frame(0, b"x" * 60000),
    "many-fragments": frame(2, b"", fin=False) + frame(0, b"", fin=False) * 3000,
    "within-another": frame(1, b"a", fin=False) + frame(1, b"b"),
    "continuation-first": frame(0, b"a"),
    "split": split(),
    "abrupt": b"",
    "no-pongs": b"",
    "pings": frame(9, b"x" * 125) * 20000,
}
# The bytes sent instead of the opening handshake.
heads = {
    "not-http": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "endless-head": b"HTTP/1.1 101 Switching Protocols\r\n" + b"X: y\r\n" * 20000,
    "no-upgrade": b"HTTP/1.1 101 Switching Protocols\r\nConnection: keep-alive\r\n\r\n",
    "wrong-accept": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
    "no-colon": b"HTTP/1.1 101 Switching Protocols\r\nnonsense\r\n\r\n",
    "body-without-end": b"HTTP/1.1 403 Forbidden\r\nContent-Length: 1000000\r\n\r\nno entry",
}
LASTING = ("no-pongs", "pings", "body-without-end")
SEEN = {}


async def raw(reader, writer):
    try:
        request = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode()
        name = request.split(" ")[1].strip("/")
        if name in heads:
            writer.write(heads[name])
        else:
            key = next(line[19:] for line in request.split("\r\n") if line.lower().startswith("sec-websocket-key: "))
            accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
            extra = "Sec-WebSocket-Extensions: permessage-deflate\r\n" if name == "extension" else ""
            extra += "Sec-WebSocket-Protocol: other\r\n" if name == "other-protocol" else ""
            opening = ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, upgrade\r\n"
                       f"{extra}Sec-WebSocket-Accept: {accept}\r\n\r\n").encode()
            sent = opening + tricks.get(name, b"")
            if name == "split":
                # One byte per packet.
                for index in range(len(sent)):
                    writer.write(sent[index:index + 1])
                    await writer.drain()
            else:
                writer.write(sent)
        if name in LASTING:
            await asyncio.sleep(3600)
        if name != "abrupt":
            # The client's reaction, which ends with its close frame.
            said = await asyncio.wait_for(reader.read(65536), 10)
            SEEN[name] = said[:1].hex()
        else:
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.TimeoutError):
        pass
    finally:
        writer.close()


async def main():
    options = peer.parser(__doc__).parse_args()
    app = web.Application()
    app.add_routes([
        web.get("/echo", echo), web.get("/many", many), web.get("/close", close), web.get("/headers", headers),
        web.get("/status/{code}", status), web.get("/silent", silent)])
    runner = web.AppRunner(app)
    await runner.setup()
    authority, certificate, key = peer.make_certificates()
    _, other_certificate, other_key = peer.make_certificates("elsewhere.test", "other")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    other = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    other.load_cert_chain(other_certificate, other_key)
    ports = []
    for tls in (None, context, other):
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        ports.append(site._server.sockets[0].getsockname()[1])
    server = await asyncio.start_server(raw, "127.0.0.1", 0)
    other_authority = other_certificate.replace("server.pem", "ca.pem")
    peer.serve(options, {"seen": lambda _: SEEN}, {
        "port": ports[0], "secure": ports[1], "elsewhere": ports[2], "raw": server.sockets[0].getsockname()[1],
        "authority": authority, "other": other_authority})
    await asyncio.Event().wait()


asyncio.run(main())
