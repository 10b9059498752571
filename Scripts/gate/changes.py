"""The test targets that a change can affect, from the graph of the package's targets."""

import json
import subprocess
from dataclasses import replace

# Folders that tests read although no target contains them, each with the targets whose tests read it.
READ_BY = {
    "Tests/Peers/": ("ReferenceTools",),
    "Tests/TestPlugins/": ("InletPluginLoaderTests", "InletPluginHostTests", "IntegrationTests"),
    "Tests/PythonPlugin/": ("InletPluginLoaderTests", "IntegrationTests"),
    "Python/": ("InletPluginLoaderTests", "IntegrationTests"),
    "Samples/": ("IntegrationTests",),
    "Packaging/": ("InletServeTests",),
}
# Files that can change every target.
CHANGES_ALL = ("Package.swift", "Scripts/gate/", "Scripts/test", "Scripts/bootstrap", "Scripts/make-clips")
# Suites that check documents, besides HouseTests.
DOCUMENT_TESTS = r"^HouseTests\.|^IntegrationTests\.(SwiftExample|ErrorGuide|OptionDefault)"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def base(name):
    """The commit that a change is compared with: its branch point from `name` or `origin/main`, or the last commit."""
    for candidate in [name] if name else ["origin/main", "HEAD"]:
        found = subprocess.run(["git", "merge-base", candidate, "HEAD"], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.strip()
    raise ValueError(f"there is no commit '{name}'")


def changed_files(since):
    """The files that differ from a commit, including untracked ones."""
    named = output("git", "diff", "--name-only", "--no-renames", "-z", since)
    new = output("git", "ls-files", "--others", "--exclude-standard", "-z")
    return sorted(path for path in set((named + new).split("\0")) if path)


class Package:
    """The targets of Package.swift and what depends on them."""

    def __init__(self, traits):
        description = json.loads(output("swift", "package", *traits, "describe", "--type", "json"))
        self.targets = {target["name"]: target for target in description["targets"]}
        self.users = {name: set() for name in self.targets}
        for name, target in self.targets.items():
            for used in target.get("target_dependencies", ()):
                self.users[used].add(name)

    def target_of(self, path):
        """The target whose folder contains a file, or None."""
        folders = [name for name, target in self.targets.items() if path.startswith(target["path"] + "/")]
        return max(folders, key=lambda name: len(self.targets[name]["path"]), default=None)

    def closure(self, names, edges):
        """These targets and all that can be reached by `edges`."""
        found, left = set(), list(names)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += edges(name)
        return found

    def affected_by(self, files):
        """The targets that a change of these files can affect."""
        changed = set()
        for path in files:
            if any(path == each or path.startswith(each) and each.endswith("/") for each in CHANGES_ALL):
                return set(self.targets)
            target = self.target_of(path)
            changed |= {target} if target else set()
            for folder, readers in READ_BY.items():
                if path.startswith(folder):
                    changed |= set(readers)
        return self.closure(changed & set(self.targets), lambda name: self.users[name])

    def tests(self, names):
        return {name for name in names if self.targets[name]["type"] == "test"}

    def needs(self, tests, target):
        """Whether one of these test targets depends on a target."""
        return target in self.closure(tests, lambda name: self.targets[name].get("target_dependencies", ()))


class Change:
    """A change and what it can affect.

    - tests: the test targets to build and run.
    - filter: a regular expression for their tests, or None for all.
    """

    def __init__(self, since, traits):
        self.files = changed_files(base(since))
        package = Package(traits)
        code = [path for path in self.files if not path.endswith((".md", ".txt", ".svg", ".png"))]
        self.tests = package.tests(package.affected_by(code)) | {"HouseTests"}
        self.filter = None
        if not code and self.files:
            self.tests.add("IntegrationTests")
            self.filter = DOCUMENT_TESTS
        products = ["inletPackageTests"]
        # Tests start these programs.
        if package.needs(self.tests, "InletCLI"):
            products.append("inlet")
        if self.tests & {"InletPluginHostTests", "InletPluginLoaderTests", "IntegrationTests"}:
            products.append("inlet-plugin-host")
        self.command = " && ".join(" ".join(["swift", "build", *traits, "--product", name]) for name in products)

    def build_of(self, row):
        """The row that builds, with only these test targets."""
        return replace(
            row, command=("bash", "-c", self.command), environment={"INLET_TESTS": ",".join(sorted(self.tests))})
