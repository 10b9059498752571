#!/usr/bin/env python3
"""A proxy in front of an RTSP server that accepts only HTTP or WebSocket clients. See README.md.

http     a proxy for a server that has the HTTP tunnel itself; it requires credentials, and can end each POST after one
         message
nginx    nginx as such a proxy, which limits POST to its Content-Length; Basic only
websocket, aiohttp  a WebSocket whose binary messages are the bytes of a TCP connection to the server; with the standard
         library, which also sends pings and fragments, or with aiohttp (PyPI)
"""

import asyncio
import base64
import hashlib
import os
import re
import ssl
import struct
import subprocess
import threading

import peer

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
REALM, NONCE = "tunnel", "b7b0c9b5c1f64a7d"
NGINX = """
{user}
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ }}
http {{
    {scratch}
    log_format line '$request $status $remote_user';
    access_log {folder}/access.log line;
    server {{
        listen 127.0.0.1:{port} {ssl};
        {tls}
        {auth}
        location / {{
            proxy_pass http://127.0.0.1:{to};
            proxy_buffering off;
            proxy_request_buffering off;
        }}
    }}
}}
"""


class Gate:
    def __init__(self, options):
        self.options = options
        self.requests, self.pings, self.pongs, self.closes = [], 0, 0, []
        self.answered = asyncio.Event()
        self.context = None
        if options.tls:
            self.authority, self.certificate, self.key = peer.make_certificates()
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(self.certificate, self.key)

    def is_allowed(self, method, target, headers):
        """Returns whether the request has the right credentials, by RFC 7617 or RFC 2617, section 3.2.2."""
        options, shown = self.options, headers.get("authorization", "")
        self.requests.append(f"{method} {target} {shown.split(' ')[0]}".strip())
        if options.auth == "none" or (options.only and options.only != method):
            return True
        if options.auth == "basic":
            pair = f"{options.user}:{options.password}".encode()
            return shown == "Basic " + base64.b64encode(pair).decode()
        fields = dict(re.findall(r'(\w+)="([^"]*)"', shown))
        md5 = lambda text: hashlib.md5(text.encode()).hexdigest()
        expected = md5(
            f"{md5(f'{options.user}:{REALM}:{options.password}')}:{NONCE}:{md5(f'{method}:{target}')}")
        return fields.get("nonce") == NONCE and fields.get("uri") == target and fields.get("response") == expected

    def challenge(self):
        if self.options.auth == "basic":
            return f'Basic realm="{REALM}"'
        return f'Digest realm="{REALM}", nonce="{NONCE}", algorithm=MD5'

    async def serve(self):
        if self.options.kind == "aiohttp":
            return await self.serve_aiohttp()
        handle = self.tunnel if self.options.kind == "http" else self.websocket
        server = await asyncio.start_server(
            lambda reader, writer: self.guarded(handle, reader, writer), "127.0.0.1", 0, ssl=self.context)
        return server.sockets[0].getsockname()[1]

    async def guarded(self, handle, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            method, target = lines[0].split(" ")[:2]
            headers = {name.strip().lower(): value.strip() for name, _, value in
                       (line.partition(":") for line in lines[1:] if line)}
            if self.is_allowed(method, target, headers):
                await handle(head, method, headers, reader, writer)
            else:
                body = "no"
                writer.write((
                    f"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: {self.challenge()}\r\n"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}").encode())
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            writer.close()

    # HTTP.

    async def tunnel(self, head, method, headers, reader, writer):
        upstream, out = await asyncio.open_connection("127.0.0.1", self.options.to)
        out.write(head)
        back = asyncio.ensure_future(self.copy(upstream, writer))
        try:
            if method == "POST" and self.options.one_message:
                # The client sends a message at once and waits for the answer.
                out.write(await reader.read(65536))
                await out.drain()
            else:
                forth = asyncio.ensure_future(self.copy(reader, out))
                await asyncio.wait([forth, back], return_when=asyncio.FIRST_COMPLETED)
        finally:
            out.close()

    async def copy(self, reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass

    # WebSocket.

    async def websocket(self, head, method, headers, reader, writer):
        if headers.get("upgrade", "").lower() != "websocket" or headers.get("sec-websocket-version") != "13" \
                or headers.get("sec-websocket-protocol") != "rtsp.onvif.org":
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return
        accept = base64.b64encode(hashlib.sha1(headers["sec-websocket-key"].encode() + GUID).digest()).decode()
        writer.write((
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: rtsp.onvif.org\r\n\r\n").encode())
        upstream, out = await asyncio.open_connection("127.0.0.1", self.options.to)
        back = asyncio.ensure_future(self.frame(upstream, writer))
        try:
            while True:
                first, second = await reader.readexactly(2)
                size = second & 0x7F
                if size == 126:
                    size, = struct.unpack(">H", await reader.readexactly(2))
                elif size == 127:
                    size, = struct.unpack(">Q", await reader.readexactly(8))
                if not second & 0x80:
                    raise ValueError("a client must mask")
                mask = await reader.readexactly(4)
                payload = bytes(byte ^ mask[index & 3] for index, byte in enumerate(await reader.readexactly(size)))
                if first == 0x82:
                    out.write(payload)
                elif first == 0x8A:
                    self.pongs += payload == b"still there?"
                    self.answered.set()
                elif first == 0x88:
                    self.closes.append(int.from_bytes(payload[:2], "big"))
                    return
                else:
                    raise ValueError(f"frame {first:02x}")
        finally:
            back.cancel()
            out.close()

    async def frame(self, reader, writer):
        """Forwards the server's data as messages of three fragments. Sends a ping between fragments if the previous one
        was answered. After each of the first three pings, the next message waits for the answer."""
        while data := await reader.read(65536):
            cuts = [0, len(data) // 3, len(data) // 2, len(data)]
            for index in range(3):
                part = data[cuts[index]:cuts[index + 1]]
                first = (0x02 if index == 0 else 0x00) | (0x80 if index == 2 else 0x00)
                size = bytes([len(part)]) if len(part) < 126 else b"\x7e" + struct.pack(">H", len(part)) \
                    if len(part) < 65536 else b"\x7f" + struct.pack(">Q", len(part))
                writer.write(bytes([first]) + size + part)
                if index == 1 and self.pings == self.pongs:
                    self.pings += 1
                    self.answered.clear()
                    writer.write(b"\x89\x0cstill there?")
            await writer.drain()
            if self.pings <= 3:
                await self.answered.wait()
        writer.write(b"\x88\x02\x03\xe8")

    async def serve_aiohttp(self):
        from aiohttp import WSMsgType, web

        async def answer(request):
            headers = {name.lower(): value for name, value in request.headers.items()}
            if not self.is_allowed(request.method, request.raw_path, headers):
                return web.Response(status=401, headers={"WWW-Authenticate": self.challenge()})
            # This code sends and counts the pings. `heartbeat` would end a WebSocket if an answer is late.
            socket = web.WebSocketResponse(protocols=["rtsp.onvif.org"], autoping=False, max_msg_size=1 << 20)
            await socket.prepare(request)
            upstream, out = await asyncio.open_connection("127.0.0.1", self.options.to)

            async def back():
                while data := await upstream.read(65536):
                    await socket.send_bytes(data)
                    if self.pings == self.pongs:
                        self.pings += 1
                        await socket.ping(b"still there?")
                await socket.close()

            task = asyncio.ensure_future(back())
            async for message in socket:
                if message.type == WSMsgType.BINARY:
                    out.write(message.data)
                elif message.type == WSMsgType.PONG:
                    self.pongs += message.data == b"still there?"
            self.closes.append(socket.close_code)
            task.cancel()
            out.close()
            return socket

        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self.context).start()
        return runner.addresses[0][1]

    # nginx.

    def serve_nginx(self):
        options, folder = self.options, peer.folder()
        auth = f'auth_basic "{REALM}"; auth_basic_user_file {folder}/users;' if options.auth == "basic" else ""
        with open(f"{folder}/users", "w") as out:
            out.write(f"{options.user}:{{PLAIN}}{options.password}\n")
        scratch = "".join(
            f"{name}_temp_path {folder}/scratch-{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        for _ in range(5):
            port = peer.free_port()
            with open(f"{folder}/nginx.conf", "w") as out:
                out.write(NGINX.format(
                    user="user root;" if os.geteuid() == 0 else "", folder=folder, scratch=scratch, port=port,
                    ssl="ssl" if options.tls else "", auth=auth, to=options.to,
                    tls=f"ssl_certificate {self.certificate}; ssl_certificate_key {self.key};" if options.tls else ""))
            child = peer.spawn(
                ["/usr/sbin/nginx", "-c", f"{folder}/nginx.conf", "-e", "stderr"], stdin=subprocess.DEVNULL, stdout=2)
            if peer.wait_for_port(port, child):
                return port
            peer.stop_child(child)
        peer.fail("nginx did not start; see standard error")

    def report(self, _):
        requests = self.requests
        if self.options.kind == "nginx":
            with open(f"{peer.folder()}/access.log") as log:
                requests = log.read().splitlines()
        return {"requests": requests, "pings": self.pings, "pongs": self.pongs, "closes": self.closes}


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--kind", choices=["http", "nginx", "websocket", "aiohttp"], required=True)
    parser.add_argument("--to", type=int, required=True, help="port of the RTSP server on 127.0.0.1")
    parser.add_argument("--tls", action="store_true", help="use TLS with a certificate from a new authority")
    parser.add_argument("--auth", choices=["none", "basic", "digest"], default="none")
    parser.add_argument("--only", choices=["GET", "POST"], help="require credentials only in these requests")
    parser.add_argument("--user", default="camera")
    parser.add_argument("--password", default="secret")
    parser.add_argument("--one-message", action="store_true", help="end each POST after one message")
    options = parser.parse_args()
    gate = Gate(options)
    loop = asyncio.new_event_loop()
    port = gate.serve_nginx() if options.kind == "nginx" else loop.run_until_complete(gate.serve())
    ready = {"port": port}
    if options.tls:
        ready["ca"] = gate.authority
    peer.serve(options, {"report": gate.report}, ready)
    if options.kind == "nginx":
        threading.Event().wait()
    loop.run_forever()


if __name__ == "__main__":
    main()
