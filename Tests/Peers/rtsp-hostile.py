"""Hostile clients of an RTSP server: they send garbage, send incomplete requests, or let it send without reading.
Prints "all closed" when the server has closed every connection."""
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


def refused_with(answer, *statuses):
    assert answer.split(" ")[1] in statuses, answer


def until_closed(client, piece, most):
    """Sends the same bytes repeatedly, and returns the number of bytes until the server closed the connection."""
    sent = 0
    try:
        while sent < most:
            sent += client.send(piece)
    except OSError:
        pass
    return sent


silent = [connect() for _ in range(8)]
half = [connect() for _ in range(5)]
for client in half:
    client.sendall(b"DESCRIBE rtsp://x/door RTSP/1.0\r\nCSeq: 1\r\n")
garbage = [connect() for _ in range(5)]
for index, client in enumerate(garbage):
    client.sendall([b"\x00" * 5000, b"$\x00\xff\xff" + b"x" * 70000, b"\r\n" * 3000,
                    b"GET /door HTTP/1.0\r\nx-sessioncookie: 1\r\nAccept: application/x-rtsp-tunnelled\r\n\r\n",
                    b"DESCRIBE rtsp://" + b"a" * 9000 + b" RTSP/1.0\r\n\r\n"][index])
long = connect()
long.sendall(f"DESCRIBE {url} RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 4000000000\r\n\r\n".encode() + b"x" * 5000)
# Requests that need a login, sent without one or with the login for another method.
for method in ("DESCRIBE", "SETUP", "PLAY", "PAUSE", "TEARDOWN", "ANNOUNCE", "RECORD", "GET_PARAMETER",
               "SET_PARAMETER"):
    extra = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
    bare = connect()
    answer = ask(bare, method, url, extra)
    refused_with(answer, "401")
    refused_with(ask(bare, method, url, extra + login(method + "x", url, answer)), "401")
    # A session that doesn't exist.
    refused_with(ask(bare, method, url, extra + "Session: 1\r\n"), "454")
    bare.close()

# An endless header. Every two bytes would be a separate list entry.
endless = connect()
endless.sendall(f"DESCRIBE {url} RTSP/1.0\r\nCSeq: 1\r\nAccept: ".encode())
sent = until_closed(endless, b"b," * 4096, 64 << 20)
assert sent < 32 << 20, f"{sent} bytes of one header were taken"
# Repeated logins.
guesses = 0
guesser = connect()
try:
    while guesses < 100 and ask(guesser, "DESCRIBE", url):
        guesses += 1
except OSError:
    pass
assert 1 < guesses < 30, f"{guesses} logins of one connection were tried"

# A client that describes the stream but doesn't play it.
idle = connect()
answer = ask(idle, "DESCRIBE", url)
answer = ask(idle, "DESCRIBE", url, login("DESCRIBE", url, answer))
assert " 200 " in answer.splitlines()[0], answer
control = re.search("Content-Base: (.*)\r", answer).group(1) + "stream=0"
# Paths that are not the camera's.
odd = connect()
answer = ask(odd, "DESCRIBE", url)
for path in ("/x", "/../door", "/stream=0"):
    refused_with(ask(odd, "DESCRIBE", url + path, login("DESCRIBE", url + path, answer)), "404")
    answer = ask(odd, "DESCRIBE", url)
# A stream that was not described, and unsupported methods.
refused_with(ask(odd, "SETUP", control, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
                 + login("SETUP", control, answer)), "400")
for method in ("ANNOUNCE", "RECORD"):
    answer = ask(odd, "DESCRIBE", url)
    refused_with(ask(odd, method, url, login(method, url, answer)), "405")
elsewhere = connect()
answer = ask(elsewhere, "DESCRIBE", url)
answer = ask(elsewhere, "DESCRIBE", url, login("DESCRIBE", url, answer))
refused = ask(elsewhere, "DESCRIBE", url)
answer = ask(elsewhere, "SETUP", control, "Transport: RTP/AVP;unicast;destination=192.0.2.1;client_port=5000-5001\r\n"
             + login("SETUP", control, refused))
assert "192.0.2.1" not in answer, answer
elsewhere.close()

waiting = set(silent + half + garbage + [long, idle, odd])
end = time.monotonic() + 120
while waiting and time.monotonic() < end:
    ready, _, _ = select.select(list(waiting), [], [], 1)
    for client in ready:
        try:
            if not client.recv(65536):
                waiting.discard(client)
        except OSError:
            waiting.discard(client)
print("all closed" if not waiting else f"{len(waiting)} are open")
