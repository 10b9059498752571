#!/usr/bin/env python3
"""Runs many clients of a preview, most of which stop reading. Prints the results as one JSON object.

Usage: preview-crowd.py PORT PID READERS STALLED PICTURES

READERS read the stream until each has received PICTURES pictures after the others have stalled. STALLED request it and
then read nothing. The server must allow exactly READERS + STALLED streams, so that a new one succeeds only when the
server has dropped some. Other pages are requested meanwhile.
"""
import json
import re
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

port, pid, readers, stalled, pictures = map(int, sys.argv[1:])
LIMIT = 120
end = time.monotonic() + LIMIT


def memory():
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])


def open_stream(buffer=None):
    client = socket.socket()
    if buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.settimeout(LIMIT)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET /stream.mjpg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    return client


class Reader(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.client, self.count, self.bad = open_stream(), 0, 0

    def run(self):
        # Ignores the framing of chunked transfer: the lengths in the parts are enough.
        data = b""
        while time.monotonic() < end:
            more = self.client.recv(65536)
            if not more:
                return
            data += more
            while (cut := data.find(b"--inlet-picture")) >= 0:
                part, data = data[:cut], data[cut + 15:]
                start = part.find(b"\xff\xd8")
                if start >= 0:
                    self.count += 1
                    self.bad += b"\xff\xd9" not in part[-64:]


def refused():
    """Returns whether another stream is refused."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/stream.mjpg", timeout=10).close()
        return False
    except urllib.error.HTTPError as error:
        return error.code == 503


def is_well():
    """Returns whether a short request is answered."""
    return urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10).status == 200


def wait(condition):
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


crowd = [Reader() for _ in range(readers)]
for reader in crowd:
    reader.start()
frozen = [open_stream(4096) for _ in range(stalled)]
was_full = wait(refused) and is_well()
# Meanwhile, the other clients hold their connections and read nothing.
first = [reader.count for reader in crowd]
begun = wait(lambda: all(reader.count >= count + 5 for reader, count in zip(crowd, first)))
still_full = refused()
before = memory()
dropped = wait(lambda: not refused())
start = [reader.count for reader in crowd]
served = wait(lambda: all(reader.count >= count + pictures for reader, count in zip(crowd, start)))
print(json.dumps({
    "was_full": was_full, "begun": begun, "still_full": still_full, "dropped": dropped, "served": served,
    "bad": sum(reader.bad for reader in crowd),
    "least": min(reader.count for reader in crowd), "most": max(reader.count for reader in crowd),
    "memory_before_kb": before, "memory_after_kb": memory(),
}))
