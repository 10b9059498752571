#!/usr/bin/python3 -B
"""Runs `inlet serve` on a disk whose writes the kernel logs, and marks random moments in the log.

Scripts/power-cuts starts this script inside a virtual machine. The disk is ext4 on dm-log-writes: before a mark, the
log has only writes that were flushed. Only a sync writes to the disk. The kernel's writeback of old pages is turned
off, and so is the option of ext4 that writes a renamed file without a sync (auto_da_alloc).

Arguments: a folder, the program, the number of marks, the seed of the random moments, and the kind of sync to omit,
which may be empty. The results in the folder are `log`, the log, and `cuts.json`, which lists the acknowledged changes
for each mark.
"""

import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

TOKEN = "cuts-0123456789abcdefghijklmn"
DISK = Path("/run/disk")
MEMORY = Path("/dev/shm")
RECORDINGS = DISK / "recordings"
LOG_BYTES = 512 << 20


def run(*command):
    subprocess.run([str(each) for each in command], check=True, stdout=subprocess.DEVNULL)


class Camera:
    """A server that sends a transport stream over TCP at its own speed, to each client from the beginning."""

    def __init__(self, folder):
        self.bytes = (folder / "clip.ts").read_bytes()
        self.pictures = json.loads((folder / "pictures.json").read_text())
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ffmpeg:tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.send, args=(client,), daemon=True).start()

    def send(self, client):
        began, sent = time.monotonic(), 0
        try:
            for at, end in self.pictures:
                time.sleep(max(0, began + at - time.monotonic()))
                client.sendall(self.bytes[sent:end])
                sent = end
        except OSError:
            client.close()


class Disk:
    """An ext4 file system on dm-log-writes."""

    def __init__(self, folder):
        shutil.copy(folder / "disk", MEMORY / "disk")
        with open(MEMORY / "log", "wb") as log:
            log.truncate(LOG_BYTES)
        devices = [
            subprocess.run(
                ["losetup", "--find", "--show", MEMORY / name], check=True, capture_output=True, text=True
            ).stdout.strip() for name in ("disk", "log")]
        sectors = os.stat(MEMORY / "disk").st_size // 512
        run("dmsetup", "create", "cut", "--noudevsync", "--noudevrules", "--table",
            f"0 {sectors} log-writes {devices[0]} {devices[1]}")
        DISK.mkdir()
        run("mount", "-t", "ext4", "-o", "noauto_da_alloc,commit=300,noatime", "/dev/dm-0", DISK)
        # By default, the kernel writes pages back after some seconds.
        Path("/proc/sys/vm/dirty_writeback_centisecs").write_text("0")
        Path("/proc/sys/vm/dirty_expire_centisecs").write_text("1000000")

    def mark(self, name):
        run("dmsetup", "message", "cut", "0", "mark", name)

    def keep_log(self, folder):
        """Ends the log and copies it. The writes of the unmount follow all marks."""
        run("umount", DISK)
        run("dmsetup", "remove", "--noudevsync", "--noudevrules", "cut")
        run("cp", "--sparse=always", MEMORY / "log", folder / "log")


class Daemon:
    def __init__(self, inlet, environment):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (DISK / "cameras.yaml").write_text(json.dumps({
            "server": {"listen": f"127.0.0.1:{self.port}", "tokens": {"cuts": {"scope": "admin", "env": "CUTS_TOKEN"}}},
            "defaults": {"record": {"folder": str(RECORDINGS), "before": "2s"}}, "cameras": {}}))
        os.sync()
        self.process = subprocess.Popen(
            [inlet, "serve", DISK / "cameras.yaml"], env={**os.environ, **environment, "CUTS_TOKEN": TOKEN},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.until("an answer", lambda: self.ask("GET", "/healthz", quiet=True) is not None)

    def until(self, what, reached):
        for _ in range(600):
            if self.process.poll() is not None:
                raise RuntimeError(f"inlet serve ended with {self.process.returncode}")
            found = reached()
            if found:
                return found
            time.sleep(0.2)
        raise RuntimeError(f"{what} did not come")

    def ask(self, method, path, body=None, quiet=False):
        """Returns the answer, or None if the daemon does not listen yet and `quiet` is true."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
                return json.loads(text) if text[:1] in b"{[" and text else {}
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read()[:500]}") from error
        except OSError:
            if quiet:
                return None
            raise


class Run:
    """The clients of the daemon, and what the daemon has acknowledged."""

    def __init__(self, folder, inlet, cuts, seed, environment):
        self.folder, self.cuts = folder, cuts
        self.random = random.Random(seed)
        self.camera, self.disk = Camera(folder), Disk(folder)
        self.daemon = Daemon(inlet, environment)
        self.lock = threading.Lock()
        self.made, self.trouble, self.is_over = [], None, threading.Event()
        # The numbers of cuts that are still to be made, by whether they are at random moments.
        self.left = {True: cuts - cuts // 2, False: cuts // 2}
        # The cameras set by the API, each with the number in its settings, and the names of paused cameras.
        self.acknowledged = {"cameras": {}, "paused": []}
        # The same with the change that is not acknowledged yet; None between changes.
        self.asked = None
        # The SHA-256 digests of recordings that have ended and of their notes, by path.
        self.ended = {}
        # The paths of recordings whose deletion was acknowledged.
        self.deleted = []
        # The times at which running recordings were first listed, by path.
        self.running = {}
        # Serializes changes: at each cut, at most one is not acknowledged.
        self.changing = threading.Lock()

    def cut(self, is_random=False):
        """Cuts the power. Half of the cuts are at random moments, the others follow acknowledgements."""
        with self.lock:
            if len(self.made) == self.cuts:
                self.is_over.set()
            if self.left[is_random] == 0:
                return
            self.left[is_random] -= 1
            promised = {
                "acknowledged": self.acknowledged, "asked": self.asked, "ended": dict(self.ended),
                "running": dict(self.running), "deleted": list(self.deleted)}
            promised["time"] = time.time()
            self.disk.mark(f"cut-{len(self.made)}")
            self.made.append(promised)

    def change(self, method, path, body=None, *, camera=None, to=None, pauses=None):
        """Makes a change by the API. Some changes are followed by a cut immediately."""
        with self.changing:
            after = json.loads(json.dumps(self.acknowledged))
            if pauses is None:
                if to is None:
                    after["cameras"].pop(camera)
                    after["paused"] = [each for each in after["paused"] if each != camera]
                else:
                    after["cameras"][camera] = to
            else:
                after["paused"] = sorted({*after["paused"], camera} if pauses else {*after["paused"]} - {camera})
            with self.lock:
                self.asked = after
            self.daemon.ask(method, path, body)
            with self.lock:
                self.acknowledged, self.asked = after, None
            if self.random.random() < 0.15:
                self.cut()

    def set(self, name, source, number):
        camera = {"source": source, "timeout": f"{number}s", "on-demand": True} if number else {"source": source}
        self.change("PUT", f"/v1/cameras/{name}", camera, camera=name, to=number)

    def configure(self):
        """Changes cameras that nobody watches."""
        names, number = ["spare-1", "spare-2", "spare-3"], 1
        while not self.is_over.is_set():
            name, number = self.random.choice(names), number + 1
            known = self.acknowledged["cameras"]
            if name not in known or self.random.random() < 0.5:
                self.set(name, "pattern:ball?size=16x16&fps=1", number)
            elif self.random.random() < 0.3:
                self.change("DELETE", f"/v1/cameras/{name}", camera=name)
            else:
                pauses = name not in self.acknowledged["paused"]
                self.change("POST", f"/v1/cameras/{name}/{'pause' if pauses else 'resume'}", camera=name, pauses=pauses)
            time.sleep(self.random.uniform(0, 0.5))

    def record(self, name, longest):
        """Adds a camera, records it three times, and deletes the first recording.

        A recording ends by a request or after its time.
        """
        self.set(name, self.camera.url, 0)
        self.daemon.until(
            "the camera", lambda: self.daemon.ask("GET", f"/v1/cameras/{name}")["state"] == "live")
        for _ in range(3):
            seconds = self.random.uniform(1, longest)
            stops = self.random.random() < 0.7
            self.daemon.ask("POST", f"/v1/cameras/{name}/record", {"seconds": 3600 if stops else seconds})
            end = time.monotonic() + seconds
            while not self.is_over.is_set():
                is_running = self.note(name)
                if time.monotonic() > end:
                    if not is_running:
                        break
                    if stops:
                        # A change before the cut would sync the journal, and the name of the note with it.
                        with self.changing:
                            self.daemon.ask("DELETE", f"/v1/cameras/{name}/record")
                            self.note(name)
                time.sleep(0.1)
            if self.is_over.is_set():
                return
        self.delete(name)
        self.change("DELETE", f"/v1/cameras/{name}", camera=name)

    def delete(self, name):
        """Deletes the first recording of a camera that is not recorded again. A cut follows.

        Another recording could get the name of a deleted one, because it begins with earlier pictures.
        """
        path = next(each for each in self.ended if each.startswith(f"recordings/{name}/"))
        # A change before the cut would sync the journal, and the deletion with it.
        with self.changing:
            with self.lock:
                self.ended.pop(path)
            self.daemon.ask("DELETE", f"/v1/cameras/{name}/recordings/{path.rsplit('/', 1)[1]}")
            with self.lock:
                self.deleted.append(path)
            self.cut()

    def note(self, name):
        """Notes which recordings of a camera are running and which have ended. Returns whether one is running."""
        listed = self.daemon.ask("GET", f"/v1/cameras/{name}/recordings")["recordings"]
        for each in listed:
            path = f"recordings/{name}/{each['name']}"
            if each["state"] == "recording":
                with self.lock:
                    self.running.setdefault(path, time.time())
            elif path not in self.ended:
                assert each["state"] == "complete", each
                digests = {
                    kind: hashlib.sha256((DISK / file).read_bytes()).hexdigest()
                    for kind, file in (("recording", path), ("note", f"{path}.json"))}
                with self.lock:
                    self.ended[path] = digests
                    self.running.pop(path, None)
                if self.random.random() < 0.8:
                    self.cut()
        return not listed or any(each["state"] == "recording" for each in listed)

    def record_on(self, prefix, longest):
        """Records one new camera after another, each with a new folder."""
        number = 0
        while not self.is_over.is_set():
            number += 1
            self.record(f"{prefix}-{number}", longest)

    def cut_at_times(self):
        while not self.is_over.is_set():
            time.sleep(self.random.uniform(0.2, 2.5))
            # A cut may take all of a younger recording.
            if any(time.time() - since > 2 for since in list(self.running.values())):
                self.cut(is_random=True)

    def guarded(self, work, *arguments):
        try:
            work(*arguments)
        except Exception as error:  # noqa: BLE001
            self.trouble = self.trouble or error
            self.is_over.set()

    def all(self):
        threads = [
            threading.Thread(target=self.guarded, args=work)
            for work in (
                (self.configure,), (self.record_on, "door", 3), (self.record_on, "gate", 12), (self.cut_at_times,))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.daemon.process.kill()
        self.daemon.process.wait()
        if self.trouble:
            raise self.trouble
        self.disk.keep_log(self.folder)
        (self.folder / "cuts.json").write_text(json.dumps(self.made))


def main():
    folder, inlet, cuts, seed, dropped = sys.argv[1:]
    environment = {"LD_PRELOAD": f"{folder}/sync-drop.so", "SYNC_DROP": dropped} if dropped else {}
    Run(Path(folder), inlet, int(cuts), int(seed), environment).all()


main()
