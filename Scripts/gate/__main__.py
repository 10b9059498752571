"""The program behind Scripts/test."""

import argparse
import os
import re
import signal
import sys

from changes import Change
from gate import Gate, Selection
from stages import ALL, FAST, NIGHTLY

DESCRIPTION = """\
Installs what is missing, checks the format, builds (warnings are errors), runs the tests that need no server, browser,
virtual machine or sanitizer, and runs the samples. Each stage has a time limit, and its output is kept in
.build/test-logs. A skipped test is a failure."""
EPILOG = """\
Exit codes: 0 all passed, 1 a stage failed, 64 usage, 69 something is missing that cannot be installed.

Examples:
  Scripts/test
  Scripts/test --all
  Scripts/test --quick
  Scripts/test --filter InletCoreTests
  Scripts/test --all --filter ViewerPeerTests
  Scripts/test --changed
  Scripts/test --stress 5 --filter 'RoomOrderTests|CallOrderTests'"""


def arguments():
    parser = argparse.ArgumentParser(
        "Scripts/test", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    parser.add_argument(
        "--all", action="store_true",
        help="runs everything, as CI does: with the trait GStreamer, servers, browsers, virtual cameras and sanitizers")
    parser.add_argument("--quick", action="store_true", help="only builds and runs the unit tests")
    parser.add_argument(
        "--filter", metavar="REGEX",
        help="only builds and runs the tests whose names match; with --all also those of the trait")
    parser.add_argument(
        "--changed", metavar="BASE", nargs="?", const="",
        help="only builds and runs the tests that the change since BASE can affect, the house rules and the format; "
        "BASE is origin/main if there is one, otherwise the last commit; with --all also with servers and the trait")
    parser.add_argument(
        "--sanitize", action="store_true", help="also runs tests under ThreadSanitizer and AddressSanitizer")
    parser.add_argument(
        "--stress", metavar="N", type=int,
        help="repeats the matching tests of servers, daemons, browsers and peers N times beside two busy processes, "
        "and prints a table of failures")
    parser.add_argument(
        "--nightly", action="store_true",
        help="runs everything, and takes hours: with all rounds of the tests that CI shortens, fuzzing and soak runs")
    parser.add_argument("--stages", action="store_true", help="prints the suites of each stage of a build, and exits")

    def fail(message):
        print(f"test: {message}; try --help", file=sys.stderr)
        sys.exit(64)

    parser.error = fail
    options = parser.parse_args()
    try:
        re.compile(options.filter or "")
    except re.error as error:
        fail(f"--filter is not a regular expression: {error}")
    if options.stress is not None and options.stress < 1:
        fail("--stress needs a positive number")
    if options.stress and options.sanitize:
        fail("--stress repeats no tests with sanitizers: leave --sanitize out")
    return options


def main():
    options = arguments()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        traits = ("--traits", "GStreamer") if options.all or options.nightly or options.sanitize else ()
        change = Change(options.changed, traits) if options.changed is not None else None
        if change:
            print(f"{len(change.files)} changed files affect {', '.join(sorted(change.tests))}")
        selection = Selection(
            run=NIGHTLY if options.nightly else ALL if options.all or options.stress else FAST,
            quick=options.quick, sanitize=options.sanitize, filter=options.filter,
            rounds=options.stress, change=change)
        if options.stages:
            return Gate(selection).print_stages()
        return Gate(selection).run()
    except ValueError as error:
        print(f"test: {error}", file=sys.stderr)
        return 64
    except KeyboardInterrupt:
        return 130


sys.exit(main())
