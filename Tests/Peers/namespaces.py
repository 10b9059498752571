"""Networks of a script's own: namespaces of the kernel's and links between them, gone when the script ends."""

import os
import signal
import subprocess
import sys


def ip(*words, check=True):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=check)


def make(name):
    """Makes a namespace. Where that cannot be, as it needs root, says so and ends the script with 69."""
    made = ip("netns", "add", name, check=False)
    if made.returncode:
        script = os.path.basename(sys.argv[0]).removesuffix(".py")
        print(f"{script}: no network namespace can be made here: {made.stderr.strip()}", file=sys.stderr)
        sys.exit(69)
    # So that what was made goes where the script is asked to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        ip("-n", name, "link", "set", "lo", "up")
    except BaseException:
        remove(name)
        raise


def remove(name):
    """Ends what runs in a namespace, and takes it away. Links into it go with it."""
    for process in ip("netns", "pids", name, check=False).stdout.split():
        try:
            os.kill(int(process), signal.SIGKILL)
        except ProcessLookupError:
            pass
    ip("netns", "del", name, check=False)


class Network:
    """Namespaces that see nothing but each other. For a `with` statement."""

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
        """Links two of them, by networks of 24 bits."""
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
        """What stands before a command that is to run in one of them."""
        return ["ip", "netns", "exec", self.names[name]]

    def run(self, name, *command):
        subprocess.run([*self.within(name), *command], check=True, stdout=subprocess.DEVNULL)
