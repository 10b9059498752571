#!/usr/bin/env python3
"""Shows that a session works through a router that translates addresses (NAT), with either the server or the viewer
behind it, in network namespaces. Prints one JSON object.

Usage: whep-nat.py [--inlet PROGRAM] [--behind server|viewer]

Needs root, or at least permission to create network namespaces; without it, prints an error and ends with 69. There are
three: `world` with coturn as a STUN server, `router` with iptables' MASQUERADE, and `home` behind it, which `world`
cannot reach. For a server behind the router, one TCP port is forwarded to it, for WHEP; its media use only the address
from STUN. The viewer is whep-viewer.py, whose `path` names the candidate from which its packets come.
"""
import argparse
import json
import subprocess
import sys

import namespaces
import peer
import whep

PEERS = f"{whep.ROOT}/Tests/Peers"
OUTSIDE, INSIDE = "198.51.100", "192.168.77"
WORLD, ROUTER, GATEWAY, HOME = f"{OUTSIDE}.1", f"{OUTSIDE}.2", f"{INSIDE}.1", f"{INSIDE}.2"


def build(network, port):
    """Builds the networks world, router and home. The router forwards `port`."""
    network.link("world", WORLD, "router", ROUTER)
    network.link("router", GATEWAY, "home", HOME)
    namespaces.ip("-n", network.names["home"], "route", "add", "default", "via", GATEWAY)
    network.run("router", "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    rules = ["iptables", "-w", "-t", "nat", "-A"]
    network.run("router", *rules, "POSTROUTING", "-s", f"{INSIDE}.0/24", "-d", f"{OUTSIDE}.0/24", "-j", "MASQUERADE")
    network.run("router", *rules, "PREROUTING", "-d", ROUTER, "-p", "tcp", "--dport", str(port),
                "-j", "DNAT", "--to-destination", HOME)


def inner(options):
    """Runs in `world`."""
    home = ["ip", "netns", "exec", options.home]
    stun = subprocess.Popen(
        ["/usr/bin/python3", "-B", f"{PEERS}/turn-server.py", "--address", WORLD],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        ready = json.loads(stun.stdout.readline())
        options.sink = f"stun={WORLD}:{ready['port']}"
        is_home = options.behind == "server"
        place = {"host": HOME, "reached_at": ROUTER, "within": home} if is_home else {"host": WORLD}
        with whep.Inlet(options, port=options.port, **place) as server:
            seen = subprocess.run(
                [*([] if is_home else home), whep.AIORTC, "-B", f"{PEERS}/whep-viewer.py", server.endpoint,
                 "--token", server.TOKEN, "--frames", "30"],
                capture_output=True, text=True, timeout=90)
            if seen.returncode:
                sys.exit(f"whep-nat: the viewer ended with {seen.returncode}: {seen.stderr[-1500:]}\n"
                         f"{server.text()[-1500:]}")
    finally:
        stun.stdin.close()
        stun.wait(10)
    print(json.dumps({"router": ROUTER, "home": HOME, "world": WORLD, **json.loads(seen.stdout)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whep.add_options(parser, size="640x480")
    parser.add_argument("--behind", choices=["server", "viewer"], default="server", help="the side behind the router")
    parser.add_argument("--home", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.home:
        return inner(options)
    port = peer.free_port()
    with namespaces.Network("world", "router", "home") as network:
        build(network, port)
        again = [*network.within("world"), sys.executable, "-B", *sys.argv, "--home", network.names["home"],
                 "--port", str(port)]
        sys.exit(subprocess.run(again).returncode)


main()
