"""The test suites of a build, with their tags, and the results of a run, both as Swift Testing reports them.

`swift test` 6.3 cannot select tests by tag: `--filter tag:NAME` comes with ST-0025. The test program itself reports
the tags of each suite in its event stream, so nothing is read from Swift sources.
https://github.com/swiftlang/swift-testing/blob/main/Documentation/ABI/JSON.md
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field

# Reasons for which a test may be skipped here: it runs inside the virtual machine of another stage, or this machine has
# no route for multicast. Any other skipped test is a failure, because Scripts/bootstrap installs everything that tests
# need.
SKIPPED_FOR_GOOD_REASON = ("runs inside Scripts/v4l2-vm", "no default route")


@dataclass
class Suite:
    """A suite that holds tests itself."""

    name: str                     # MODULE.SUITE, or MODULE.OUTER/INNER for a nested suite
    tags: set[str] = field(default_factory=set)
    tests: list[str] = field(default_factory=list)

    @property
    def module(self):
        return self.name.split(".")[0]


@dataclass
class Results:
    passed: int = 0
    excused: int = 0              # tests that were skipped for a good reason
    failed: dict[str, list[str]] = field(default_factory=dict)    # test: its issues, as one line each
    skipped: dict[str, str] = field(default_factory=dict)         # test: the reason
    seconds: dict[str, float] = field(default_factory=dict)       # suite: wall time
    ended: bool = False


def program(folder=".build"):
    """The test program that `swift build --build-tests` makes."""
    return os.path.join(folder, "debug", "inletPackageTests.xctest")


def command(folder=".build"):
    return [program(folder), "--testing-library", "swift-testing"]


def listed(folder=".build"):
    """Returns the suites of a build in alphabetical order. Each has its own tags and those of the suites around it.

    Swift Testing 6.3 reports tags in the experimental version of its event stream, which has the number 99. A program
    with AddressSanitizer lists its tests without a check for leaks, which is for runs.
    """
    stream = os.path.join(folder, "tests.jsonl")
    subprocess.run(
        [*command(folder), "--list-tests", "--event-stream-output-path", stream,
         "--experimental-event-stream-version", "99"],
        check=True, stdout=subprocess.DEVNULL, timeout=120, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    suites, tags = {}, {}
    with open(stream, "rb") as file:
        for line in file:
            record = json.loads(line)
            if record["kind"] != "test":
                continue
            test = record["payload"]
            if test["kind"] == "suite":
                tags[test["id"]] = {tag.removeprefix(".") for tag in test.get("_tags", [])}
            else:
                name = suite_of(test["id"])
                suites.setdefault(name, Suite(name)).tests.append(test["id"])
    for suite in suites.values():
        parts = suite.name.split("/")
        for count in range(1, len(parts) + 1):
            suite.tags |= tags.get("/".join(parts[:count]), set())
    return sorted(suites.values(), key=lambda suite: suite.name)


def suite_of(test):
    """The suite of a test: `Module.Outer/Inner/test()/File.swift:1:2` is of `Module.Outer/Inner`."""
    return re.split(r"/[^/]*\(", test, maxsplit=1)[0] if "/" in test else test


def patterns(chosen, listed):
    """Regular expressions for `--filter` that match the tests of the chosen suites and no others of those listed."""
    complete = {suite.name: len(suite.tests) for suite in listed}
    modules = {}
    for suite in chosen:
        modules.setdefault(suite.module, []).append(suite)
    found = []
    for module, members in modules.items():
        whole = [suite.name for suite in members if len(suite.tests) == complete[suite.name]]
        if len(whole) == sum(suite.module == module for suite in listed):
            found.append(rf"^{module}\.")
            continue
        if whole:
            found.append(rf"^({'|'.join(re.escape(name) for name in whole)})/[^/(]*\(")
        found += [f"^{re.escape(test)}$" for suite in members if suite.name not in whole for test in suite.tests]
    return found


def results(stream):
    """Reads an event stream that a run of tests has written, as far as it goes."""
    found = Results()
    names, begun, issues, failed_suites = {}, {}, {}, set()
    try:
        file = open(stream, "rb")
    except FileNotFoundError:
        return found
    with file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                break    # The last line of a run that was killed.
            payload = record["payload"]
            kind = payload["kind"]
            if record["kind"] == "test":
                names[payload["id"]] = kind
                continue
            identifier = payload.get("testID", "")
            if kind == "testStarted":
                begun[identifier] = payload["instant"]["absolute"]
            elif kind == "issueRecorded" and payload["issue"].get("isFailure", not payload["issue"]["isKnown"]):
                issues.setdefault(identifier, []).append(issue_text(payload))
            elif kind == "testSkipped":
                reason = " ".join(message["text"] for message in payload["messages"])
                if any(good in reason for good in SKIPPED_FOR_GOOD_REASON):
                    found.excused += 1
                else:
                    found.skipped[identifier] = reason
            elif kind == "testEnded":
                if identifier in begun:
                    found.seconds[identifier] = payload["instant"]["absolute"] - begun.pop(identifier)
                if names.get(identifier) == "function" and identifier not in issues:
                    found.passed += 1
            elif kind == "runEnded":
                found.ended = True
    found.failed = issues
    for identifier in begun:
        # The run ended in the middle of this test: it crashed, or the time limit of the stage passed.
        if names.get(identifier) == "function":
            found.failed.setdefault(identifier, []).append("did not end")
    return found


def issue_text(payload):
    place = payload["issue"].get("sourceLocation") or {}
    where = f"{place['fileID']}:{place['line']}: " if place else ""
    return where + " ".join(message["text"] for message in payload["messages"])
