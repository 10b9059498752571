"""Clients that an RTSP server should not suffer from: it is asked nonsense, half of something, or to send to those who
do not read. Writes "all closed" when the server has closed every one of them.
"""
import hashlib
import re
import select
import socket
import sys
import time

place, camera, user, password = sys.argv[1:5]
host, port = place.rsplit(":", 1)
url = f"rtsp://{place}/{camera}"


def connect():
    return socket.create_connection((host, int(port)), timeout=30)


def ask(client, method, uri, extra="", body=b"", number=[0]):
    number[0] += 1
    client.sendall(f"{method} {uri} RTSP/1.0\r\nCSeq: {number[0]}\r\n{extra}\r\n".encode() + body)
    return client.recv(65536).decode("latin-1")


def login(method, uri, answer):
    nonce = re.search('nonce="([^"]*)"', answer).group(1)
    realm = re.search('realm="([^"]*)"', answer).group(1)

    def md5(text):
        return hashlib.md5(text.encode()).hexdigest()

    response = md5(f"{md5(f'{user}:{realm}:{password}')}:{nonce}:{md5(f'{method}:{uri}')}")
    return (f'Authorization: Digest username="{user}", realm="{realm}", nonce="{nonce}", uri="{uri}", '
            f'response="{response}"\r\n')


silent = [connect() for _ in range(30)]
half = [connect() for _ in range(5)]
for client in half:
    client.sendall(b"DESCRIBE rtsp://x/door RTSP/1.0\r\nCSeq: 1\r\n")
garbage = [connect() for _ in range(5)]
for index, client in enumerate(garbage):
    client.sendall([b"\x00" * 5000, b"$\x00\xff\xff" + b"x" * 70000, b"GET / HTTP/1.1\r\n\r\n", b"\r\n" * 3000,
                    b"DESCRIBE rtsp://" + b"a" * 9000 + b" RTSP/1.0\r\n\r\n"][index])
long = connect()
long.sendall(f"DESCRIBE {url} RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 4000000000\r\n\r\n".encode() + b"x" * 5000)
# Each asks for things that need a login, without one, or with that of another address.
bare = connect()
for method in ("DESCRIBE", "SETUP", "PLAY", "PAUSE", "TEARDOWN", "ANNOUNCE", "RECORD", "GET_PARAMETER",
               "SET_PARAMETER"):
    extra = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
    answer = ask(bare, method, url, extra)
    assert " 401 " in answer.splitlines()[0], (method, answer)
    answer = ask(bare, method, url, extra + login(method + "x", url, answer))
    assert " 401 " in answer.splitlines()[0], (method, answer)
    # A session that there is not.
    answer = ask(bare, method, url, extra + "Session: 1\r\n")
    assert " 454 " in answer.splitlines()[0], (method, answer)

# One that logs in, has packets sent to it, and never reads; its addresses are not followed elsewhere.
stuck = connect()
stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
answer = ask(stuck, "DESCRIBE", url)
answer = ask(stuck, "DESCRIBE", url, login("DESCRIBE", url, answer))
assert " 200 " in answer.splitlines()[0], answer
control = re.search("Content-Base: (.*)\r", answer).group(1) + "stream=0"
refused = ask(stuck, "DESCRIBE", url)
answer = ask(stuck, "SETUP", control, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
             + login("SETUP", control, refused))
session = re.search("Session: ([^;\r]*)", answer).group(1)
refused = ask(stuck, "DESCRIBE", url)
stuck.sendall(f"PLAY {url} RTSP/1.0\r\nCSeq: 99\r\nSession: {session}\r\n{login('PLAY', url, refused)}\r\n".encode())

# Another one that asks what there is, and takes nothing.
idle = connect()
answer = ask(idle, "DESCRIBE", url)
answer = ask(idle, "DESCRIBE", url, login("DESCRIBE", url, answer))
assert " 200 " in answer.splitlines()[0], answer
elsewhere = connect()
answer = ask(elsewhere, "DESCRIBE", url)
answer = ask(elsewhere, "DESCRIBE", url, login("DESCRIBE", url, answer))
refused = ask(elsewhere, "DESCRIBE", url)
answer = ask(elsewhere, "SETUP", control, "Transport: RTP/AVP;unicast;destination=192.0.2.1;client_port=5000-5001\r\n"
             + login("SETUP", control, refused))
assert "192.0.2.1" not in answer, answer
elsewhere.close()

waiting = set(silent + half + garbage + [long, bare, idle])
end = time.monotonic() + 100
while waiting and time.monotonic() < end:
    ready, _, _ = select.select(list(waiting), [], [], 1)
    for client in ready:
        try:
            if not client.recv(65536):
                waiting.discard(client)
        except OSError:
            waiting.discard(client)
stuck.close()
print("all closed" if not waiting else f"{len(waiting)} are open")
