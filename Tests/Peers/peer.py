"""The common part of the test servers: the ready line, commands, shutdown, and certificates.

A peer prints one JSON line when it is ready, then takes commands from standard input, one JSON object per line:
{"command": "kill"}. It answers each command with one line: {"ok": true, ...} or {"ok": false, "error": "..."}, with the
command's "id" if it had one. A peer ends when its standard input ends or its parent dies, so none outlives its test.
"""

import argparse
import ctypes
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
_print_lock = threading.Lock()
_children = []
_folder = None
_parent = os.getppid()


def parser(description):
    """Returns a parser with the options of every peer."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    made.add_argument("--stay", action="store_true",
                      help="keep running when standard input ends, for use in the background of a shell")
    return made


def say(message):
    """Prints a JSON line."""
    with _print_lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def folder():
    """Returns a temporary folder, readable by all, that is removed when the process ends."""
    global _folder
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="inlet-peer-")
        os.chmod(_folder, 0o755)
    return _folder


def end(status=0):
    """Ends the process and its children and removes its folder at once, whatever its threads do."""
    for child in _children:
        if child.poll() is None:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            except PermissionError:
                child.kill()
            try:
                # Some containers have no init that reaps children.
                child.wait(2)
            except subprocess.TimeoutExpired:
                pass
    if _folder is not None:
        shutil.rmtree(_folder, ignore_errors=True)
    sys.stdout.flush()
    os._exit(status)


def fail(reason):
    """Ends a peer that cannot start, with the reason as its ready line."""
    say({"error": reason})
    end(1)


def serve(options, handlers, ready):
    """Prints the ready line and answers commands until the end. `handlers` maps a command to a function that takes its
    message and returns a dictionary or None.

    Handlers run on a separate thread. A handler that must run elsewhere has to arrange that.
    """
    signal.signal(signal.SIGTERM, lambda *_: end(0))
    signal.signal(signal.SIGINT, lambda *_: end(0))
    say(ready)
    threading.Thread(target=_read_commands, args=(options, handlers), daemon=True).start()
    if not options.stay:
        threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent():
    # Not PR_SET_PDEATHSIG: it is sent when the forking thread ends, and a test's thread may end before the test.
    while os.getppid() == _parent:
        time.sleep(0.25)
    end(0)


def _read_commands(options, handlers):
    for line in sys.stdin:
        if not line.strip():
            continue
        answer = {}
        try:
            message = json.loads(line)
            if "id" in message:
                answer["id"] = message["id"]
            name = message.get("command")
            if name == "quit":
                say({**answer, "ok": True})
                end(0)
            if name not in handlers:
                raise ValueError(f"no command {name!r}; there are {', '.join(sorted([*handlers, 'quit']))}")
            say({**answer, "ok": True, **(handlers[name](message) or {})})
        except Exception as error:  # A bad command must not end the server: it is told to whoever sent it.
            say({**answer, "ok": False, "error": f"{type(error).__name__}: {error}"})
    if not options.stay:
        end(0)


def spawn(arguments, user=None, **keywords):
    """Starts a program in a separate process group that dies with this process. Call it only on the main thread.

    `user` runs the program as that user if this process is root, for programs that refuse root.
    """

    starter = os.getpid()

    def prepare():
        # After any change of user, because that would clear the setting.
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The signal covers only later deaths: if the starter ended since the fork, this child must end itself.
        if os.getppid() != starter:
            os._exit(1)

    if user is not None and os.geteuid() == 0:
        keywords.update(user=user, group="nogroup", extra_groups=[])
    child = subprocess.Popen(arguments, preexec_fn=prepare, start_new_session=True, **keywords)
    _children.append(child)
    return child


def stop_child(child, seconds=2):
    """Asks a child to end, then kills it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is None:
            os.kill(child.pid, number)
        try:
            child.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            continue


def free_port(kind=socket.SOCK_STREAM):
    """Returns a free port, for programs that cannot take port 0.

    The port is below the range of the system's automatic ports.
    """
    for _ in range(200):
        port = random.SystemRandom().randrange(10240, 32000)
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no free port between 10240 and 32000")


def wait_for_port(port, child, seconds=10, table="tcp"):
    """Waits until a TCP port listens or a UDP port is bound. It doesn't connect, because a server for one client would
    count that as its client."""
    wanted = f"{port:04X}"
    # Codes in `/proc/net` for a listening TCP socket (0A), a connected one (01) because some servers stop listening
    # after the first client, and a UDP socket without a peer (07).
    states = {"tcp": ("0A", "01"), "udp": ("07",)}[table]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if child.poll() is not None:
            return False
        for path in (f"/proc/net/{table}", f"/proc/net/{table}6"):
            with open(path) as lines:
                for line in lines:
                    fields = line.split()
                    if fields[3] in states and fields[1].endswith(":" + wanted):
                        return True
        time.sleep(0.02)
    return False


def make_certificates(name="localhost", label="."):
    """Creates a certificate authority and a certificate for 127.0.0.1 and `name`.

    Each label has a separate authority.

    Returns the paths of the authority's certificate, the server's certificate and the server's key.
    """
    where = os.path.join(folder(), label)
    os.makedirs(where, exist_ok=True)
    paths = {each: os.path.join(where, each + ".pem") for each in ("ca", "ca-key", "server", "server-key", "request")}
    extensions = os.path.join(where, "extensions.cnf")
    with open(extensions, "w") as out:
        address = "IP:127.0.0.1," if name == "localhost" else ""
        out.write(f"subjectAltName={address}DNS:{name}\nbasicConstraints=CA:FALSE\n")

    def openssl(*arguments):
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
        if done.returncode:
            fail(f"openssl {arguments[0]}: {done.stderr.strip()}")

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=Inlet test authority",
            "-keyout", paths["ca-key"], "-out", paths["ca"])
    openssl("req", *key, "-subj", f"/CN={name}", "-keyout", paths["server-key"], "-out", paths["request"])
    openssl(
        "x509", "-req", "-in", paths["request"], "-CA", paths["ca"], "-CAkey", paths["ca-key"], "-CAcreateserial",
        "-days", "2", "-extfile", extensions, "-out", paths["server"])
    os.chmod(paths["server-key"], 0o644)
    return paths["ca"], paths["server"], paths["server-key"]
