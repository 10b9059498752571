"""Prints what a run does: a line for each stage that ends, what failed first, and the totals."""

import re
import shutil
import sys
import time

# Lines of a program's output that state the error.
TROUBLE = re.compile(
    r"(^|: )(error|warning): |✘|WARNING: ThreadSanitizer|ERROR: (Address|Leak)Sanitizer|Program crashed|Fatal error:")
LINES_OF_TROUBLE = 60
LINES_AT_THE_END = 40
WIDTH = 300


class Report:
    """
    - Parameter order: the names of the stages, in the order of the table.
    """

    def __init__(self, order):
        self.order = order
        self.lines = {}
        self.passed = 0
        self.failed = 0
        self.processor = 0
        self.first_failure = None
        self._begin = time.monotonic()
        self._announced = 0
        self._is_terminal = sys.stdout.isatty()

    def changed(self, scheduler):
        """Shows the stages that run: a line that changes on a terminal, otherwise a line each minute."""
        running = {}
        for job, _, begin in scheduler.running.values():
            running.setdefault(job.stage, []).append(time.monotonic() - begin)
        seconds = int(time.monotonic() - self._begin)
        text = f"{seconds:5} s  " + ", ".join(
            f"{stage} {len(times)}x" if len(times) > 1 else f"{stage} {times[0]:.0f} s"
            for stage, times in running.items())
        if self._is_terminal:
            print("\r\033[K" + text[: shutil.get_terminal_size().columns - 1], end="", flush=True)
        elif running and seconds // 60 > self._announced:
            self._announced = seconds // 60
            print(text, flush=True)

    def stage_ended(self, name, tally):
        self._count(tally)
        outcome = "FAILED" if tally.failed else "ok"
        counts = f"{tally.passed} passed" + (f", {tally.failed} failed" if tally.failed else "")
        self._line(
            name, f"{outcome:8} {name:14} {tally.end - tally.begin:6.0f} s {tally.processor:6.0f} s of a processor   "
            + counts)

    def stage_not_run(self, name, tally):
        tally.failed += 1
        self._count(tally)
        self._line(name, f"{'not run':8} {name:14} because a stage that it follows failed")

    def failures(self, failures, rounds):
        """Prints the table of a run with several rounds."""
        self._print(f"\nfailures in {rounds} rounds:")
        for test, count in sorted(failures.items(), key=lambda item: -item[1]):
            print(f"{count:4}  {test}")
        if not failures:
            print("none")

    def _count(self, tally):
        self.passed += tally.passed
        self.failed += tally.failed
        self.processor += tally.processor

    def _line(self, name, line):
        self.lines[name] = line
        self._print(line)

    def trouble(self, name, text, log):
        """Shows a failure at once, and the first one again at the end."""
        text = f"{name} failed; its output is in {log}\n{text}"
        self._print(text)
        self.first_failure = self.first_failure or text

    def finish(self):
        self._print("")
        for name in self.order:
            if name in self.lines:
                print(self.lines[name])
        print(f"total {time.monotonic() - self._begin:.0f} s, {self.processor:.0f} s of a processor")
        if self.first_failure:
            print(f"\nfirst failure:\n{self.first_failure}")
        print(f"\n{self.passed} passed, {self.failed} failed", flush=True)

    def _print(self, text):
        if self._is_terminal:
            print("\r\033[K", end="")
        print(text, flush=True)


def excerpt(path):
    """The lines of a log that state errors, each with the four lines after it, and the end of the log."""
    with open(path, errors="replace") as file:
        lines = [line.rstrip()[:WIDTH] for line in re.split(r"[\r\n]", file.read()) if line.strip()]
    found, until = [], -1
    for number, line in enumerate(lines):
        if TROUBLE.search(line):
            until = number + 4
        if number <= until:
            found.append(line)
    found = found[:LINES_OF_TROUBLE]
    return "\n".join([*found, "the end of the output:", *lines[-LINES_AT_THE_END:]])
