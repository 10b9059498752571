"""What the servers that take a stream share: a child that prints a line a picture, killed and started again as often as
a test wants."""

import subprocess
import threading

import peer


class Receiver:
    """`command` makes the child's arguments of a port; `picture` takes one of its lines: the picture's PTS and MD5 sum,
    or None for a line about something else."""

    def __init__(self, command, port, table, picture):
        self.command, self.port, self.table, self.picture = command, port, table, picture
        self.frames, self.latest = 0, []
        self.child = None

    def start(self):
        """Whether the child listens."""
        self.child = peer.spawn(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.latest = []
        threading.Thread(target=self.count, args=(self.child, self.latest), daemon=True).start()
        return peer.wait_for_port(self.port, self.child, table=self.table)

    def count(self, child, latest):
        for line in child.stdout:
            picture = self.picture(line)
            if picture is not None:
                latest.append(picture)
                del latest[:-200]
                self.frames += 1

    def kill(self, _):
        self.child.kill()
        self.child.wait()

    def again(self, _):
        if not self.start():
            raise RuntimeError("the server did not start; see standard error")

    def report(self, _):
        return {"frames": self.frames, "latest": list(self.latest), "runs": self.child.poll() is None}

    def serve(self, options, ready):
        if not self.start():
            peer.fail("the server did not start; see standard error")
        peer.serve(
            options, {"kill": self.kill, "report": self.report, "again": self.again}, {"port": self.port, **ready})
        threading.Event().wait()
