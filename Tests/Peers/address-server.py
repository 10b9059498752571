#!/usr/bin/python3
"""Servers that record, byte for byte, the addresses and credentials that a client sends, and serve no media.

See README.md.

  text  RTSP and HTTP: the request line and the Authorization header; the server first requires Basic authentication,
        and then answers 404
  rtmp  ffmpeg as a listener: the application and the stream, from its log
  auth  RTMP with Adobe's authentication: the user, and whether the password is that of --password
  srt   GStreamer's srtsrc as a listener: the stream identifier; with --passphrase, encrypted data is accepted
"""

import base64
import hashlib
import re
import socketserver
import subprocess
import threading

import peer


class Notes:
    def __init__(self):
        self.lines, self.bytes = [], 0

    def add(self, line):
        self.lines = [*self.lines[-99:], line]

    def report(self, _):
        return {"lines": self.lines, "bytes": self.bytes}


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


def listen(notes, handle):
    """A TCP server that calls `handle` with its input and output."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            try:
                handle(self.rfile, self.wfile)
            except (OSError, EOFError):
                pass

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def serve_text(notes):
    def handle(reader, writer):
        while line := reader.readline().decode("latin-1").rstrip("\r\n"):
            headers = {}
            while field := reader.readline().decode("latin-1").rstrip("\r\n"):
                name, _, value = field.partition(":")
                headers[name.lower()] = value.strip()
            reader.read(int(headers.get("content-length", 0)))
            kind, _, shown = headers.get("authorization", "").partition(" ")
            if kind == "Basic":
                shown = base64.b64decode(shown).decode()
            notes.add(f"{line} {shown}".strip())
            protocol = "RTSP/1.0" if "RTSP/" in line else "HTTP/1.1"
            answer = [f"{protocol} {'404 Not Found' if shown else '401 Unauthorized'}", "Content-Length: 0"]
            if not shown:
                answer.append('WWW-Authenticate: Basic realm="camera"')
            if "cseq" in headers:
                answer.append(f"CSeq: {headers['cseq']}")
            if line.startswith("OPTIONS ") and protocol == "RTSP/1.0":
                answer[0] = "RTSP/1.0 200 OK"
            writer.write(("\r\n".join(answer) + "\r\n\r\n").encode())

    return listen(notes, handle)


def serve_rtmp(notes):
    port = peer.free_port()

    def run():
        while True:
            child = peer.spawn(
                ["ffmpeg", "-hide_banner", "-nostdin", "-v", "debug", "-listen", "1",
                 "-i", f"rtmp://127.0.0.1:{port}/expected/expected", "-f", "null", "-"],
                stderr=subprocess.PIPE)
            started.set()
            for line in child.stderr:
                if found := re.search(rb"App field don't match up: (.*) <-> |Unexpected stream (.*), expecting ", line):
                    notes.add((found[1] or found[2]).decode())
            child.wait()

    started = threading.Event()
    # The thread must live as long as its children: they are killed when the thread that created them ends.
    threading.Thread(target=run, daemon=True).start()
    started.wait(10)
    if not peer.wait_for_port(port, peer._children[-1]):
        peer.fail("ffmpeg did not listen")
    return port


def text(value):
    return b"\x02" + len(value).to_bytes(2, "big") + value


def read_exactly(reader, count):
    data = reader.read(count)
    if len(data) < count:
        raise EOFError
    return data


def serve_auth(notes, password):
    """The three connections of Adobe's authentication: without credentials, with the user, and with the answer to a
    challenge."""
    salt, challenge = b"c2FsdA==", b"Y2hhbGxlbmdl"

    def handle(reader, writer):
        hello = read_exactly(reader, 1537)
        writer.write(b"\x03" + bytes(1536) + hello[1:])
        read_exactly(reader, 1536)
        while True:
            # A message header, and the body in chunks of 128 bytes.
            head = read_exactly(reader, 12)
            length, kind = int.from_bytes(head[4:7], "big"), head[7]
            body = b""
            while len(body) < length:
                if body:
                    read_exactly(reader, 1)
                body += read_exactly(reader, min(128, length - len(body)))
            if kind == 20:
                break
        url = re.search(rb"tcUrl\x02(..)", body, re.S)
        start = url.end()
        url = body[start:start + int.from_bytes(url[1], "big")]
        query = dict(re.findall(rb"[?&](\w+)=([^&]*)", url))
        reason = b"code=403 need auth ] : authmod=adobe"
        if b"response" in query:
            first = base64.b64encode(hashlib.md5(query[b"user"] + salt + password.encode()).digest())
            wanted = base64.b64encode(hashlib.md5(first + challenge + query[b"challenge"]).digest())
            notes.add(f"user {query[b'user'].decode()}, "
                      f"password {'right' if wanted == query[b'response'] else 'wrong'}")
            reason = b"?reason=authfailed"
        elif b"user" in query:
            reason = (b"authmod=adobe ] : ?reason=needauth&user=" + query[b"user"] + b"&salt=" + salt
                      + b"&challenge=" + challenge)
        answer = text(b"_error") + b"\x00" + bytes.fromhex("3ff0000000000000") + b"\x05\x03"
        for name, value in [
            (b"level", b"error"), (b"code", b"NetConnection.Connect.Rejected"),
            (b"description", b"[ AccessManager.Reject ] : [ " + reason),
        ]:
            answer += text(name)[1:] + text(value)
        answer += b"\x00\x00\x09"
        writer.write(b"\x03" + bytes(3) + len(answer).to_bytes(3, "big") + b"\x14" + bytes(4))
        writer.write(b"\xc3".join(answer[at:at + 128] for at in range(0, len(answer), 128)))
        reader.read(1)

    return listen(notes, handle)


def serve_srt(notes, passphrase):
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst

    Gst.init(None)
    port = peer.free_port(peer.socket.SOCK_DGRAM)
    pipeline = Gst.parse_launch("srtsrc name=source ! fakesink name=sink signal-handoffs=true")
    source = pipeline.get_by_name("source")
    source.set_property("uri", f"srt://127.0.0.1:{port}?mode=listener")
    source.set_property("authentication", True)
    if passphrase:
        source.set_property("passphrase", passphrase)
        source.set_property("pbkeylen", 16)

    def connecting(_, address, name):
        notes.add(name or "")
        return True

    def received(_, buffer, pad):
        notes.bytes += buffer.get_size()

    source.connect("caller-connecting", connecting)
    pipeline.get_by_name("sink").connect("handoff", received)
    pipeline.set_state(Gst.State.PLAYING)
    notes.pipeline = pipeline
    return port


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--kind", choices=["text", "rtmp", "auth", "srt"], required=True)
    parser.add_argument("--password", default="", help="the password of the kind auth")
    parser.add_argument("--passphrase", default="", help="the passphrase of the kind srt")
    options = parser.parse_args()
    notes = Notes()
    port = {
        "text": lambda: serve_text(notes), "rtmp": lambda: serve_rtmp(notes),
        "auth": lambda: serve_auth(notes, options.password), "srt": lambda: serve_srt(notes, options.passphrase),
    }[options.kind]()
    peer.serve(options, {"report": notes.report}, {"port": port})
    threading.Event().wait()


if __name__ == "__main__":
    main()
