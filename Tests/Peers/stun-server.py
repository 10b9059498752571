#!/usr/bin/python3
"""A STUN server at an address of this host that answers every client with the same address, or never answers.

See README.md.
"""

import socket
import struct
import threading

import peer

COOKIE = 0x2112A442


def response(request, host, port):
    """Returns a Binding success response (RFC 8489, sections 5 and 14) with this address; None for other messages.

    A request without the magic cookie follows RFC 3489, as libnice's do, and gets the unmodified address.
    """
    if len(request) < 20 or request[:2] != b"\x00\x01":
        return None
    address = struct.unpack("!I", socket.inet_aton(host))[0]
    if struct.unpack("!I", request[4:8])[0] == COOKIE:
        attribute = struct.pack("!HHBBHI", 0x0020, 8, 0, 1, port ^ (COOKIE >> 16), address ^ COOKIE)
    else:
        attribute = struct.pack("!HHBBHI", 0x0001, 8, 0, 1, port, address)
    return b"\x01\x01" + struct.pack("!H", len(attribute)) + request[4:20] + attribute


def own_address():
    """Returns the address from which this host sends to others; the loopback address if there is none.

    libnice sends from the interface of each candidate, so a server at 127.0.0.1 gets nothing from the other interfaces.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Connecting a UDP socket sends nothing.
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.1"


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--mapped", default="203.0.113.7", help="the address in all answers")
    parser.add_argument("--silent", action="store_true", help="never answer")
    options = parser.parse_args()
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((own_address(), 0))
    requests = []

    def run():
        while True:
            data, client = server.recvfrom(2048)
            answer = response(data, options.mapped, client[1])
            if answer is None:
                continue
            requests.append(client)
            if not options.silent:
                server.sendto(answer, client)

    threading.Thread(target=run, daemon=True).start()
    host, port = server.getsockname()
    peer.serve(options, {"report": lambda _: {"requests": len(requests)}}, {"address": f"{host}:{port}"})
    threading.Event().wait()


if __name__ == "__main__":
    main()
