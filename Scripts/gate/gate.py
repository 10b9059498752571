"""One run of Scripts/test: chooses rows of the table, makes jobs of them, and counts their outcomes."""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, replace

import suites
from changes import Change
from report import Report, excerpt
from scheduler import Job, Scheduler
from stages import ALL, FAST, table

LOGS = ".build/test-logs"
# The targets of Package.swift with all their dependencies, which HouseTests read.
PACKAGE = ".build/package.json"
# Stages that other stages follow, whatever a run selects.
FOUNDATION = ("build", "clips", "machine", "thread-build", "address-build")
# The folders of the builds that contain tests, by the stages that make them.
TESTS_IN = {"build": ".build", "thread-build": ".build/thread", "address-build": ".build/address"}
# The number of tests of one process that run at a time.
WIDTH = "6"
# Occupies a processor until it is ended, for --stress.
BUSY_LOOP = [sys.executable, "-c", "while True: pass"]


@dataclass
class Selection:
    """The stages and tests that a run has."""

    run: int = FAST
    quick: bool = False
    sanitize: bool = False
    filter: str | None = None
    # The number of repetitions under load; None for one run without load.
    rounds: int | None = None
    # The change whose effects are tested; None to test everything.
    change: Change | None = None

    @property
    def traits(self):
        # The trait adds code for sanitizers to check, so they build with it.
        return ("--traits", "GStreamer") if self.run >= ALL or self.sanitize else ()

    def stages(self):
        rows = table(self.traits)
        rows = [row for row in rows if row.run <= self.run or self.sanitize and row.sanitizes and row.run <= ALL]
        if self.quick:
            rows = [row for row in rows if row.name in ("build", "clips", "tests")]
        if self.rounds:
            rows = [row for row in rows if row.name in FOUNDATION or row.has_tests and row.apart]
        if self.filter or self.rounds or self.change:
            kept = (*FOUNDATION, "format") if self.change else FOUNDATION
            rows = [row for row in rows if row.name in kept or row.has_tests]
            rows = [row for row in rows if self.sanitize or not row.sanitizes]
            # They build the test targets that the main build reports as matching.
            rows = [replace(row, after=("build",)) if row.name.endswith("-build") else row for row in rows]
        if self.change:
            rows = [self.change.build_of(row) if row.name == "build" else row for row in rows]
        return rows


class Gate:
    def __init__(self, selection):
        self.selection = selection
        self.rows = selection.stages()
        self.tallies = {row.name: Tally() for row in self.rows}
        self.report = Report([row.name for row in self.rows])
        self.scheduler = Scheduler(self.report.changed)
        self.failures = {}    # test: the number of rounds in which it failed
        self.load = []        # busy processes next to the tests of --stress

    def run(self):
        status = self.install() or self.describe_package()
        if status:
            return status
        shutil.rmtree(LOGS, ignore_errors=True)
        os.makedirs(LOGS)
        for row in self.rows:
            if not row.has_tests:
                self.scheduler.add(self.job(row, row.name, list(row.command), self.program_ended))
        try:
            self.scheduler.run()
        finally:
            for process in self.load:
                process.kill()
        return self.finish()

    def install(self):
        """Installs what the stages need; returns the exit code."""
        needs = {need for row in self.rows for need in row.needs}
        if self.selection.traits:
            needs |= {"--test", "--webrtc"}
        command = ["Scripts/bootstrap", "--fast-test", *sorted(needs), "--quiet"]
        status = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
        return status if status in (0, 69) else 1

    def describe_package(self):
        """Writes PACKAGE if Package.swift is newer; returns the exit code."""
        if os.path.exists(PACKAGE) and os.path.getmtime(PACKAGE) >= os.path.getmtime("Package.swift"):
            return 0
        # Without the trait, dependencies that need it are left out.
        command = ("swift", "package", "--traits", "GStreamer", "describe", "--type", "json")
        described = subprocess.run(command, stdout=subprocess.PIPE)
        if described.returncode == 0:
            os.makedirs(os.path.dirname(PACKAGE), exist_ok=True)
            with open(PACKAGE, "wb") as file:
                file.write(described.stdout)
        return 1 if described.returncode else 0

    # Jobs

    def job(self, row, name, command, finished, environment=None):
        self.tallies[row.name].left += 1
        return Job(
            stage=row.name, name=name, command=command, log=f"{LOGS}/{name.replace('/', '.')}.log", limit=row.limit,
            processors=row.processors, after=tuple(s for s in row.after if s in self.tallies),
            not_beside=row.not_beside, environment={**row.environment, **(environment or {})}, finished=finished)

    def jobs_of(self, folder):
        """The jobs of the rows whose tests are in a build."""
        listed = suites.listed(folder)
        jobs = []
        for row, members in self.assigned(listed, folder):
            if not members:
                self.tallies.pop(row.name)
                continue
            rounds = self.selection.rounds or 1
            for number in range(1, rounds + 1):
                for group in [[suite] for suite in members] if row.apart else [members]:
                    name = f"{row.name}.{group[0].name}" if row.apart else row.name
                    jobs.append(self.test_job(row, f"{name}.{number}" if rounds > 1 else name, group, listed))
        return jobs

    def assigned(self, listed, folder):
        """Yields each row of a build with its suites, which have only the tests that this run selects."""
        tags = [row.tag for row in table(()) if row.tag is not None]
        for row in self.rows:
            if not row.has_tests or row.folder != folder:
                continue
            members = []
            for suite in listed:
                tests = [test for test in suite.tests if self.selects(row, test)]
                # The first stage with one of its tags, whether or not this run has that stage.
                home = next(tag for tag in tags if not tag or tag in suite.tags)
                if tests and row.tag in (None, home):
                    members.append(suites.Suite(suite.name, suite.tags, tests))
            # Suites with many tests first, so that short ones fill the gaps at the end.
            yield row, sorted(members, key=lambda suite: -len(suite.tests))

    def selects(self, row, test):
        change = self.selection.change
        if change and change.filter and not re.search(change.filter, test):
            return False
        if self.selection.filter:
            # A filter replaces the choice of tests for a sanitizer, not that of tests which a sanitizer only disturbs.
            return re.search(self.selection.filter, test) and not re.search(row.omitting, test)
        return row.matching is None or re.search(row.matching, test) and not re.search(row.omitting, test)

    def test_job(self, row, name, group, listed):
        stream = f"{LOGS}/{name.replace('/', '.')}.jsonl"
        command = [*suites.command(row.folder), "--event-stream-output-path", stream, "--event-stream-version", "0"]
        for pattern in suites.patterns(group, listed):
            command += ["--filter", pattern]
        # A test that has begun gets its share of the processors: its time limit counts from its start.
        command += ["--no-parallel"] if row.apart else ["--experimental-maximum-parallelization-width", WIDTH]
        return self.job(row, name, command, lambda job: self.tests_ended(job, stream))

    # Outcomes

    def program_ended(self, job):
        tally, added = self.tallies[job.stage], []
        tally.add(job)
        if job.status == 0 and job.stage in TESTS_IN:
            try:
                added = self.jobs_of(TESTS_IN[job.stage])
                if self.selection.rounds:
                    self.load = [subprocess.Popen(BUSY_LOOP) for _ in range(2)]
                if job.stage == "build" and self.selection.filter:
                    self.narrow_sanitizer_builds()
            except (subprocess.SubprocessError, OSError, ValueError) as error:
                job.status = 1
                with open(job.log, "a") as log:
                    print(f"error: the tests of {TESTS_IN[job.stage]} cannot be listed: {error}", file=log)
        if job.status == 0:
            tally.passed += 1
        else:
            tally.failed += 1
            self.report.trouble(job.name, self.reason(job) + excerpt(job.log), job.log)
        self.stage_may_have_ended(job.stage)
        return added

    def narrow_sanitizer_builds(self):
        """Lets sanitizer builds contain the test targets that the filter matches."""
        pattern = self.selection.filter
        modules = {suite.module for suite in suites.listed() if any(re.search(pattern, test) for test in suite.tests)}
        for job in self.scheduler.waiting:
            if job.stage in TESTS_IN:
                job.environment["INLET_TESTS"] = ",".join(sorted(modules))

    def tests_ended(self, job, stream):
        tally, results = self.tallies[job.stage], suites.results(stream)
        tally.add(job)
        tally.passed += results.passed
        lines = []
        for test, issues in results.failed.items():
            lines += [f"{test or 'outside of a test'}", *(f"    {line[:1000]}" for line in issues[:10])]
        for test, reason in results.skipped.items():
            lines.append(f"{test} was skipped: {reason}")
        failed = len(results.failed) + len(results.skipped)
        if not lines and (job.status != 0 or not results.ended or not results.passed + results.excused):
            failed = 1
            lines.append(excerpt(job.log))
        for test in [*results.failed, *results.skipped]:
            self.failures[test] = self.failures.get(test, 0) + 1
        if failed:
            job.status = job.status or 1
            self.report.trouble(job.name, self.reason(job) + "\n".join(lines), job.log)
        tally.failed += failed
        self.stage_may_have_ended(job.stage)
        return []

    @staticmethod
    def reason(job):
        return f"stopped, because it took more than {job.limit} s\n" if job.timed_out else ""

    def stage_may_have_ended(self, name):
        tally = self.tallies[name]
        tally.left -= 1
        if tally.left == 0:
            self.report.stage_ended(name, tally)

    def finish(self):
        for job in self.scheduler.waiting:
            tally = self.tallies.pop(job.stage, None)
            if tally:
                self.report.stage_not_run(job.stage, tally)
        if self.selection.rounds:
            self.report.failures(self.failures, self.selection.rounds)
        self.report.finish()
        return 1 if self.report.failed else 0

    def print_stages(self):
        for row, members in self.assigned(suites.listed(), ".build"):
            print(f"{row.name}: {' '.join(sorted(suite.name for suite in members))}")
        return 0


@dataclass
class Tally:
    """The sums of a stage."""

    left: int = 0          # jobs that have not ended
    passed: int = 0
    failed: int = 0
    processor: float = 0
    begin: float | None = None
    end: float = 0

    def add(self, job):
        now = time.monotonic()
        self.processor += job.processor
        self.begin = min(self.begin or now, now - job.wall)
        self.end = now
