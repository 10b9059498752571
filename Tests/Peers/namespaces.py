"""Separate networks for a script: kernel namespaces and links between them, removed when the script ends."""

import ctypes
import os
import signal
import subprocess
import sys
import time

import peer

CLONE_NEWNET = 0x40000000
# Addresses of an isolated peer and of its clients.
OWN_ADDRESSES = ("10.77.0.1/24", "fe80::77:1/64")
CLIENT_ADDRESSES = ("10.77.0.2/24", "fe80::77:2/64")


def ip(*words, check=True):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=check)


def make(name):
    """Creates a namespace. If that fails, because it needs root, prints an error and ends the script with 69."""
    made = ip("netns", "add", name, check=False)
    if made.returncode:
        script = os.path.basename(sys.argv[0]).removesuffix(".py")
        print(f"{script}: no network namespace can be made here: {made.stderr.strip()}", file=sys.stderr)
        sys.exit(69)
    # Makes SIGTERM run the cleanup.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        ip("-n", name, "link", "set", "lo", "up")
    except BaseException:
        remove(name)
        raise


def remove(name):
    """Kills the processes in a namespace and removes it, together with its links."""
    for process in ip("netns", "pids", name, check=False).stdout.split():
        try:
            os.kill(int(process), signal.SIGKILL)
        except ProcessLookupError:
            pass
    ip("netns", "del", name, check=False)


def leave():
    """Moves this process and its future children into a separate network. Call it before starting threads.

    Links and addresses that a script makes in the machine's network disturb other programs: a WebRTC session restarts
    when an address appears or disappears.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        print(f"no network namespace can be made here: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        sys.exit(69)
    ip("link", "set", "lo", "up")


class Network:
    """Namespaces that can reach only each other. For a `with` statement."""

    def __init__(self, *names):
        self.names = {name: f"inlet-{name}-{os.getpid()}" for name in names}
        self.links = 0

    def __enter__(self):
        made = []
        try:
            for name in self.names.values():
                make(name)
                made.append(name)
        except BaseException:
            for name in made:
                remove(name)
            raise
        return self

    def __exit__(self, *_):
        for name in self.names.values():
            remove(name)

    def link(self, one, one_address, other, other_address):
        """Links two namespaces with a /24 network."""
        ends = []
        for side in "ab":
            ends.append(f"i{os.getpid() % 65536:x}-{self.links}{side}")
        self.links += 1
        ip("link", "add", ends[0], "netns", self.names[one], "type", "veth",
           "peer", "name", ends[1], "netns", self.names[other])
        for name, end, address in ((one, ends[0], one_address), (other, ends[1], other_address)):
            ip("-n", self.names[name], "addr", "add", f"{address}/24", "dev", end)
            ip("-n", self.names[name], "link", "set", end, "up")

    def within(self, name):
        """Returns the prefix of a command that runs in a namespace."""
        return ["ip", "netns", "exec", self.names[name]]

    def run(self, name, *command):
        subprocess.run([*self.within(name), *command], check=True, stdout=subprocess.DEVNULL)


def isolate(mtu=1500):
    """Moves this process into a separate network, linked with the network of its clients. Returns the process that
    keeps the clients' network.

    Neither network has a name: both disappear when their last process ends, however it ends. Call it on a peer's main
    thread before starting others. The link is called `server` at this end and `client` at the other. Its addresses are
    OWN_ADDRESSES and CLIENT_ADDRESSES, and this end sends to all multicast groups through it.

    mtu: the largest packet of the link, in bytes. Loopback interfaces have 65536, so a whole write is one packet.
    """
    if not os.access("/proc/self/ns/net", os.R_OK):
        peer.fail("this system has no network namespaces")
    holder = peer.spawn(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL)
    here, there = os.readlink("/proc/self/ns/net"), f"/proc/{holder.pid}/ns/net"
    deadline = time.monotonic() + 10
    while holder.poll() is None and os.readlink(there) == here:
        if time.monotonic() > deadline:
            peer.fail("the network of the clients was not made")
        time.sleep(0.01)
    libc = ctypes.CDLL(None, use_errno=True)
    if holder.poll() is not None or libc.unshare(CLONE_NEWNET):
        peer.fail("no network namespace can be made here, which needs root")
    inside = ["nsenter", f"--net={there}"]
    # A first interface where the system looks for groups by default.
    subprocess.run([*inside, *"ip link add other type veth peer name other-end".split()], check=True)
    for name in ("other", "other-end"):
        subprocess.run([*inside, "ip", "link", "set", name, "up"], check=True)
    ip("link", "add", "server", "type", "veth", "peer", "name", "client", "netns", str(holder.pid))
    for addresses, name, within in (
            (OWN_ADDRESSES, "server", []), (CLIENT_ADDRESSES, "client", inside)):
        # Skips address probing (nodad), which takes time.
        commands = [
            "link set lo up", f"link set {name} addrgenmode none", f"link set {name} mtu {mtu}", f"link set {name} up"]
        commands += [f"addr add {address} dev {name} {'nodad' if ':' in address else ''}" for address in addresses]
        for command in commands:
            subprocess.run([*within, "ip", *command.split()], capture_output=True, check=True)
    ip("route", "add", "224.0.0.0/4", "dev", "server")
    return holder.pid
