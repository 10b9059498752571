#!/usr/bin/python3
"""Servers that redirect clients, in a network namespace with public, private, link-local and loopback addresses. Prints
one JSON list.

Needs permission to create network namespaces; without it, prints an error and ends with 69. All addresses are those of
the namespace's only loopback device. At each address a server speaks RTSP and HTTP, redirects to the address that its
path names, and counts requests for /stream. A name service answers for rebind.test alternately with a public address
and with the machine's, and for pair.test and mute.test with two public addresses: at the first one nothing listens, or
a server never answers.

Examples:
  Tests/Peers/lead-astray.py --inlet .build/debug/inlet rtsp,redirect,9.9.9.1,127.0.0.1
  Tests/Peers/lead-astray.py --inlet .build/debug/inlet http,playlist,10.9.9.1,10.9.9.2,private-addresses=deny
"""

import argparse
import json
import os
import re
import socket
import socketserver
import struct
import subprocess
import sys
import threading

import namespaces

ADDRESSES = ["9.9.9.1", "9.9.9.2", "10.9.9.1", "10.9.9.2", "100.64.9.1", "169.254.169.254", "127.0.0.1"]
PORT = 8000
CLOSED, MUTE = "9.9.9.3", "9.9.9.4"
PAIRS = {b"\4pair\4test\0": [CLOSED, "9.9.9.2"], b"\4mute\4test\0": [MUTE, "9.9.9.2"]}


class Server(socketserver.StreamRequestHandler):
    """Answers requests in sequence, for both RTSP and HTTP."""

    came = {}
    lock = threading.Lock()

    def handle(self):
        try:
            while line := self.rfile.readline().decode("latin-1").strip():
                headers = {}
                while field := self.rfile.readline().decode("latin-1").strip():
                    name, _, value = field.partition(":")
                    headers[name.lower()] = value.strip()
                self.answer(line, headers)
        except OSError:
            pass

    def answer(self, line, headers):
        method, target, protocol = line.split(" ", 2)
        scheme = "rtsp" if protocol.startswith("RTSP") else "http"
        status, more, body = "404 Not Found", [], b""
        lead = re.search(r"/(redirect|playlist)/([^/]+)/", target)
        if method == "OPTIONS":
            status, more = "200 OK", ["Public: OPTIONS, DESCRIBE"]
        elif lead and lead[1] == "redirect":
            status, more = "302 Found", [f"Location: {scheme}://{lead[2]}:{PORT}/stream"]
        elif lead:
            status, more = "200 OK", ["Content-Type: application/vnd.apple.mpegurl"]
            segment = f"http://{lead[2]}:{PORT}/stream.ts"
            body = f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{segment}\n#EXT-X-ENDLIST\n".encode()
        else:
            with self.lock:
                where = self.request.getsockname()[0]
                self.came[where] = self.came.get(where, 0) + 1
        if "cseq" in headers:
            more.append(f"CSeq: {headers['cseq']}")
        head = "\r\n".join([f"{protocol} {status}", *more, f"Content-Length: {len(body)}"])
        self.wfile.write(f"{head}\r\n\r\n".encode() + body)


class Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


def answer_names():
    """A DNS server. Some names have two addresses. All others have a different IPv4 address for each query."""
    asked = 0
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    while True:
        query, client = server.recvfrom(512)
        end = query.index(b"\0", 12) + 5
        kind = struct.unpack(">H", query[end - 4:end - 2])[0]
        addresses = PAIRS.get(query[12:end - 4], []) if kind == 1 else []
        if kind == 1 and not addresses:
            addresses = ["9.9.9.2" if asked % 2 == 0 else "127.0.0.1"]
            asked += 1
        answers = [b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(address) for address in addresses]
        head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, len(answers), 0, 0)
        server.sendto(head + query[12:end] + b"".join(answers), client)


def inside(options):
    for address in ADDRESSES:
        subprocess.run(["ip", "addr", "add", f"{address}/32", "dev", "lo"], check=False, capture_output=True)
        threading.Thread(target=Listener((address, PORT), Server).serve_forever, daemon=True).start()
    for address in [CLOSED, MUTE]:
        subprocess.run(["ip", "addr", "add", f"{address}/32", "dev", "lo"], check=False, capture_output=True)
    mute = socket.create_server((MUTE, PORT))
    threading.Thread(target=answer_names, daemon=True).start()
    seen = []
    for case in options.cases:
        scheme, how, leader, target, *more = case.split(",")
        Server.came.clear()
        query = "&".join(["connect-timeout=5s", "first-timeout=5s", *more])
        uri = f"{scheme}://{leader}:{PORT}/{how}/{target}/index.m3u8?{query}"
        done = subprocess.run(
            [options.inlet, "run", uri, "--frames", "1", "--retry", options.retry], capture_output=True, text=True,
            timeout=60)
        seen.append({"came": dict(Server.came), "status": done.returncode, "said": done.stderr})
    mute.close()
    print(json.dumps(seen))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inlet", required=True, help="the program")
    parser.add_argument("--retry", default="0", help="how often Inlet may retry (default: never)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="+", help="SCHEME,redirect|playlist,LEADER,TARGET[,OPTION=VALUE...]")
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    with namespaces.Network("astray") as network:
        name = network.names["astray"]
        # `ip netns exec` uses this folder instead of the system's.
        folder = f"/etc/netns/{name}"
        os.makedirs(folder, exist_ok=True)
        try:
            with open(f"{folder}/resolv.conf", "w") as out:
                out.write("nameserver 127.0.0.1\n")
            again = [sys.executable, "-B", *sys.argv[:1], "--inside", *sys.argv[1:]]
            done = subprocess.run([*network.within("astray"), *again])
        finally:
            os.remove(f"{folder}/resolv.conf")
            os.rmdir(folder)
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
