#!/usr/bin/python3
"""coturn: relays on 127.0.0.1 or another address of this host, for clients with credentials made from a secret.

See README.md.
"""

import os
import re
import shutil
import socket
import subprocess
import threading

import peer


def record(target):
    """Starts a TCP proxy in front of a port of this host, which records the first bytes of each client.

    Returns its port and the list of the records.
    """
    first = []
    listener = socket.create_server(("127.0.0.1", 0))

    def copy(source, sink, notes):
        try:
            while data := source.recv(65536):
                if notes is not None:
                    first.append(data[:16].hex())
                    notes = None
                sink.sendall(data)
        except OSError:
            pass
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def run():
        while True:
            client, _ = listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", target))
            except OSError:
                client.close()
                continue
            for arguments in ((client, server, first), (server, client, None)):
                threading.Thread(target=copy, args=arguments, daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return listener.getsockname()[1], first


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--port", type=int, default=0, help="the UDP and TCP port; 0 selects a free one")
    parser.add_argument("--address", default="127.0.0.1", help="the address to listen and relay at")
    parser.add_argument("--secret", default="north", help="the secret from which credentials are made")
    parser.add_argument("--no-udp", action="store_true", help="accept clients only over TCP")
    parser.add_argument("--tls", action="store_true",
                        help="also accept clients over TLS, at a second port, with a new certificate")
    options = parser.parse_args()
    program = shutil.which("turnserver") or "/usr/bin/turnserver"
    if not os.path.exists(program):
        peer.fail("coturn is missing: apt-get install coturn")
    port = options.port or peer.free_port(socket.SOCK_DGRAM)
    security, authority, secure, first = ["--no-tls"], "", 0, []
    if options.tls:
        authority, certificate, key = peer.make_certificates()
        behind = peer.free_port()
        security = [f"--tls-listening-port={behind}", f"--cert={certificate}", f"--pkey={key}"]
        secure, first = record(behind)
    log = open(f"{peer.folder()}/log", "w")
    child = peer.spawn(
        [program, "-n", f"--listening-ip={options.address}", f"--relay-ip={options.address}",
         f"--listening-port={port}", "--realm=inlet", "--use-auth-secret", f"--static-auth-secret={options.secret}",
         "--allow-loopback-peers", "--no-cli", *security, "--no-dtls", "--fingerprint", "--verbose",
         f"--userdb={peer.folder()}/users", f"--pidfile={peer.folder()}/pid", "--log-file=stdout",
         *(["--no-udp"] if options.no_udp else [])],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if not peer.wait_for_port(port, child, table="tcp" if options.no_udp else "udp"):
        log.flush()
        with open(log.name) as lines:
            peer.fail("coturn did not start: " + lines.read()[-2000:])

    def report(_):
        """Returns the users that got relays, and the number of refusals."""
        with open(log.name) as lines:
            text = lines.read()
        given = re.findall(r"user <([^>]*)>: incoming packet ALLOCATE processed, success", text)
        return {"given": sorted(set(given)),
                "refused": len(re.findall(r"ALLOCATE processed, error 401: Unauthorized", text)),
                "wrong": len(re.findall(r"check_stun_auth: Cannot", text)),
                # The first bytes from each client of the TLS port.
                "first": first}

    peer.serve(options, {"report": report},
               {"port": port, "secret": options.secret, "tls": secure, "authority": authority})
    threading.Event().wait()


if __name__ == "__main__":
    main()
