"""The common part of servers that receive a stream: a child that prints a line per picture and can be killed and
restarted."""

import subprocess
import threading

import peer


class Receiver:
    """`command` returns the child's arguments for a port. `picture` parses one of its lines into a picture's PTS and
    MD5 sum, or None for another line."""

    def __init__(self, command, port, table, picture):
        self.command, self.port, self.table, self.picture = command, port, table, picture
        self.frames, self.latest = 0, []
        self.child = None

    def start(self):
        """Starts the child and returns whether it listens."""
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
