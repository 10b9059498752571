#!/usr/bin/python3
"""coturn: relays on 127.0.0.1 or another address of this host, for whoever has credentials made of a secret.

See README.md.
"""

import os
import re
import shutil
import socket
import subprocess
import threading

import peer


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--port", type=int, default=0, help="port of UDP and TCP; 0 takes a free one")
    parser.add_argument("--address", default="127.0.0.1", help="where it listens and relays")
    parser.add_argument("--secret", default="north", help="what credentials are made of")
    parser.add_argument("--no-udp", action="store_true", help="take clients by TCP alone")
    options = parser.parse_args()
    program = shutil.which("turnserver") or "/usr/bin/turnserver"
    if not os.path.exists(program):
        peer.fail("coturn is missing: apt-get install coturn")
    port = options.port or peer.free_port(socket.SOCK_DGRAM)
    log = open(f"{peer.folder()}/log", "w")
    child = peer.spawn(
        [program, "-n", f"--listening-ip={options.address}", f"--relay-ip={options.address}",
         f"--listening-port={port}", "--realm=inlet", "--use-auth-secret", f"--static-auth-secret={options.secret}",
         "--allow-loopback-peers", "--no-cli", "--no-tls", "--no-dtls", "--fingerprint", "--verbose",
         f"--userdb={peer.folder()}/users", f"--pidfile={peer.folder()}/pid", "--log-file=stdout",
         *(["--no-udp"] if options.no_udp else [])],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if not peer.wait_for_port(port, child, table="tcp" if options.no_udp else "udp"):
        log.flush()
        with open(log.name) as lines:
            peer.fail("coturn did not start: " + lines.read()[-2000:])

    def report(_):
        """Who was given relays, and how often somebody was refused."""
        with open(log.name) as lines:
            text = lines.read()
        given = re.findall(r"user <([^>]*)>: incoming packet ALLOCATE processed, success", text)
        return {"given": sorted(set(given)),
                "refused": len(re.findall(r"ALLOCATE processed, error 401: Unauthorized", text)),
                "wrong": len(re.findall(r"check_stun_auth: Cannot", text))}

    peer.serve(options, {"report": report}, {"port": port, "secret": options.secret})
    threading.Event().wait()


if __name__ == "__main__":
    main()
