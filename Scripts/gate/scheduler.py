"""Runs jobs on the two processors: starts each when what it needs has passed and enough of the processors is free."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

PROCESSORS = 2.0
# Time between SIGTERM and SIGKILL for a job that is stopped.
GRACE_SECONDS = 10


@dataclass
class Job:
    """One process of a stage."""

    stage: str
    command: list[str]
    log: str
    limit: int
    processors: float
    after: tuple[str, ...] = ()
    not_beside: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    # Called when the process has ended, with its outcome. Returns the jobs that the outcome adds, if any.
    finished: object = None
    name: str = ""

    status: int | None = None
    wall: float = 0
    processor: float = 0
    timed_out: bool = False


class Scheduler:
    """Runs jobs in the order in which they were added, as far as processors are free.

    - Parameter changed: called with no arguments once a second and each time a job starts or ends.
    """

    def __init__(self, changed=lambda scheduler: None):
        self.waiting = []
        self.running = {}     # process id: (job, process, begin)
        self.ended = []
        self.failed_stages = set()
        self.begin = time.monotonic()
        self._changed = changed

    def add(self, job):
        self.waiting.append(job)

    def run(self):
        """Runs all jobs. Jobs that follow a failed stage are never started and remain in `waiting`."""
        try:
            while True:
                self._start()
                self._changed(self)
                if not self.running:
                    return
                self._wait()
        finally:
            self._stop_all()

    def open_stages(self):
        """The stages that have not ended."""
        return {job.stage for job in self.waiting} | {job.stage for job, _, _ in self.running.values()}

    def _start(self):
        for job in list(self.waiting):
            if self._may_start(job):
                self.waiting.remove(job)
                self._launch(job)

    def _may_start(self, job):
        open_stages = self.open_stages()
        if any(stage in open_stages or stage in self.failed_stages for stage in job.after):
            return False
        present = [running for running, _, _ in self.running.values()]
        if any(other.stage in job.not_beside or job.stage in other.not_beside for other in present):
            return False
        if PROCESSORS in (job.processors, *(other.processors for other in present)):
            return not present
        if job.processors == 0:
            return all(other.processors > 0 for other in present)
        used = sum(other.processors for other in present)
        return used == 0 or used + job.processors <= PROCESSORS

    def _launch(self, job):
        os.makedirs(os.path.dirname(job.log), exist_ok=True)
        # A job at idle priority gets the processor time that no other job wants.
        command = ["chrt", "--idle", "0", *job.command] if job.processors == 0 else job.command
        with open(job.log, "wb") as log:
            # A process group, not a session: Linux shares the processors among sessions first (sched(7), autogroup), so
            # that a priority would count only within one.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, process_group=0,
                env={**os.environ, **job.environment})
        self.running[process.pid] = (job, process, time.monotonic())

    def _wait(self):
        """Waits until a job ends, at most a second."""
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            for pid in list(self.running):
                job, process, begin = self.running[pid]
                if time.monotonic() - begin > job.limit and not job.timed_out:
                    job.timed_out = True
                    self._signal(process, signal.SIGTERM)
                if time.monotonic() - begin > job.limit + GRACE_SECONDS:
                    self._signal(process, signal.SIGKILL)
                ended, status, usage = os.wait4(pid, os.WNOHANG)
                if ended:
                    self._end(pid, os.waitstatus_to_exitcode(status), usage)
                    return
            time.sleep(0.05)

    def _end(self, pid, status, usage):
        job, process, begin = self.running.pop(pid)
        process.returncode = status
        # Programs that the job started and left running end with it.
        self._signal(process, signal.SIGKILL)
        job.status = status
        job.wall = time.monotonic() - begin
        job.processor = usage.ru_utime + usage.ru_stime
        self.ended.append(job)
        added = job.finished(job) if job.finished else []
        if job.status != 0:
            self.failed_stages.add(job.stage)
        self.waiting = added + self.waiting if added else self.waiting

    @staticmethod
    def _signal(process, number):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass

    def _stop_all(self):
        for _, process, _ in self.running.values():
            self._signal(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        for _, process, _ in self.running.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            self._signal(process, signal.SIGKILL)
