"""The stages of Scripts/test: a table. Everything else in this folder runs it.

Rows start in the order of the table as soon as the stages that they follow have passed and enough of the two
processors is free.
"""

import os
from dataclasses import dataclass, field

# Sanitizers read files by these names in programs that tests start in other folders.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Shares of the two processors that a process of a stage occupies. The scheduler starts a process if the shares of all
# running ones add up to at most 2.
ALONE = 2.0   # measures, so that nothing may run next to it
ONE = 1.0     # uses one processor
HALF = 0.5    # mostly waits: a server, daemon or browser and its clients
WAITS = 0.25  # hardly computes
SPARE = 0.0   # uses idle processor time, at idle priority; one such stage runs at a time

# The runs that a stage belongs to. Each run contains the ones before it.
FAST, ALL, NIGHTLY = 1, 2, 3


@dataclass(frozen=True)
class Stage:
    """A program, or the test suites that have a tag.

    A row with `tag` runs the suites that have this tag and no tag of an earlier row; the row with the tag "" runs all
    others. Sanitizer rows name suites by `matching` instead: these suites run a second time, in a separate build.
    """

    name: str
    command: tuple[str, ...] = ()
    tag: str | None = None
    matching: str | None = None
    omitting: str = "^$"
    # One process for each suite, whose tests run one after another; otherwise one process for all, in parallel.
    apart: bool = False
    after: tuple[str, ...] = ("build", "clips")
    limit: int = 600
    processors: float = WAITS
    # Stages that must not run at the same time; "*" for all others.
    not_beside: tuple[str, ...] = ()
    # The folder of the build that contains the tests.
    folder: str = ".build"
    environment: dict[str, str] = field(default_factory=dict)
    run: int = ALL
    # Whether the stage belongs to a sanitizer.
    sanitizes: bool = False
    # Options of Scripts/bootstrap that install what the stage needs.
    needs: tuple[str, ...] = ()

    @property
    def has_tests(self):
        return self.tag is not None or self.matching is not None


# Compiles each module as a whole: less processor time in total, but modules that depend on each other wait.
WHOLE = ("-Xswiftc", "-whole-module-optimization", "-Xswiftc", "-num-threads", "-Xswiftc", "2")

# Suites that share memory between threads, for ThreadSanitizer, and the test targets that hold them.
THREADED = (
    r"^(InletCaptureTests\.|InjectSourceTests\.|InletTestingTests\.|InletDecodeTests\.PacketQueueTests"
    r"|InletCoreTests\.I420BufferPoolTests)")
THREADED_TARGETS = ("InletCaptureTests", "InjectSourceTests", "InletTestingTests", "InletDecodeTests", "InletCoreTests")
# Suites that wrap foreign memory, for AddressSanitizer, and their test targets with those of the next three.
FOREIGN = (
    r"^(InletCoreTests\.|InletConvertTests\.|InletCaptureTests\.|InletRTCTests\.|FFmpegSinkTests\.ColorTests"
    r"|TurboJPEGDecoderTests\.|V4L2SourceTests\.CompressedStreamTests|InletDecodeTests\.PacketFactsTests)")
FOREIGN_TARGETS = (
    "InletCoreTests", "InletConvertTests", "InletCaptureTests", "InletRTCTests", "FFmpegSinkTests",
    "TurboJPEGDecoderTests", "V4L2SourceTests", "InletDecodeTests", "FFmpegSourceTests", "InletPluginLoaderTests",
    "WebRTCSinkTests")
# Suites that run under AddressSanitizer in a process each.
HOSTILE = r"HostileInputTests"
PLUGINS = r"PluginProcessTests/(PluginGallery|PluginLie|ProcessSource|PluginSink)Tests"
VIEWERS = r"ViewerTroubleTests/(hostile|schedule)"
# Simulations on one thread in their own memory, which a sanitizer only slows down, and suites that hold sources to
# 100 ms, which a sanitizer makes them miss.
PURE = (
    r"SourceConformance|ScriptedSource|FaultSimulation|FrameClock|RateLimiter|TimestampUnwrapper|CapturerStateMachine"
    r"|MailboxStateMachine|LatencyHistogram")

LEAKS = {"LSAN_OPTIONS": f"suppressions={ROOT}/Tests/Sanitizers/leaks.txt:print_suppressions=0"}


def sanitizer_build(name, options, targets, then=""):
    """A row that builds only these test targets with a sanitizer, in a separate folder.

    Objects with and without a sanitizer cannot be mixed, and all test targets would take twice as long.
    """
    build = " ".join(["swift", "build", *options, *WHOLE, "--product", "inletPackageTests", f"--sanitize={name}",
                      "--scratch-path", f".build/{name}"])
    return Stage(
        f"{name}-build", ("bash", "-c", build + then), after=(), limit=5000, processors=SPARE,
        environment={"INLET_TESTS": ",".join(targets)}, sanitizes=True)


def sanitized(name, sanitizer, matching, omitting="^$", environment=None, **options):
    """A row that runs suites a second time in a build with a sanitizer."""
    return Stage(
        name, matching=matching, omitting=omitting, folder=f".build/{sanitizer}", after=(f"{sanitizer}-build",),
        sanitizes=True, environment={**LEAKS, **(environment or {})}, **{"limit": 900, **options})


def table(traits):
    """Returns the stages.

    - Parameter traits: the options of `swift build` that turn traits on.
    """
    return [
        Stage("format", ("Scripts/format", "--check"), after=(), limit=300, processors=ONE, run=FAST),
        Stage("build", ("swift", "build", *traits, "--build-tests"), after=(), limit=3600, processors=ONE, run=FAST),
        Stage("clips", ("Scripts/make-clips", ".build/clips"), after=(), processors=ONE, run=FAST),

        # Builds and checks that use the time that tests leave.
        sanitizer_build(
            "thread", (), THREADED_TARGETS,
            " && clang -O2 -Wall -Wextra -fPIC -shared Tests/Sanitizers/mutex-for-tsan.c"
            " -o .build/thread/mutex-for-tsan.so"),
        sanitizer_build("address", traits, FOREIGN_TARGETS),
        Stage(
            "package", ("Scripts/package", "--check"), after=(), limit=5000, processors=SPARE,
            needs=("--package",)),
        Stage("samples", ("Scripts/samples",), limit=3600, processors=SPARE, run=FAST),
        Stage("docs", ("Scripts/docs", "--built", *traits), limit=3600, processors=SPARE),
        Stage("sbom", ("Scripts/sbom", "--check"), limit=3600, processors=SPARE),

        Stage("release", ("Scripts/release", "--rehearse"), after=(), limit=300, processors=ONE),
        Stage("matrix", ("Scripts/matrix",), limit=900, processors=HALF, needs=("--test",)),

        # The first run downloads a kernel.
        Stage("machine", ("Scripts/v4l2-vm", "--loopback", "true"), after=(), limit=900, needs=("--vm",)),
        Stage(
            "cameras", tag="virtualMachine", apart=True, after=("build", "clips", "machine"), limit=1800,
            processors=ONE, not_beside=("cameras",)),
        Stage(
            "power", ("Scripts/power-cuts",), after=("build", "machine"), limit=900, processors=ONE, needs=("--vm",)),
        Stage("browsers", tag="chromium", apart=True, limit=900, processors=HALF, needs=("--webrtc", "--test")),
        Stage("displays", tag="display", apart=True, limit=900, processors=HALF, needs=("--test",)),
        Stage("peers", tag="rtcPeer", apart=True, limit=900, processors=HALF, needs=("--webrtc", "--test")),
        Stage("daemons", tag="daemon", apart=True, limit=1200, processors=HALF, needs=("--test",)),
        Stage("servers", tag="server", apart=True, limit=1200, processors=HALF, needs=("--test",)),
        Stage("process", tag="process", apart=True, limit=900, processors=HALF, run=FAST),
        Stage("encoders", tag="encoder", limit=900, processors=ONE, run=FAST),
        Stage("python", tag="python", apart=True, limit=300, processors=HALF, needs=("--webrtc", "--test")),
        Stage("tests", tag="", limit=900, processors=ONE, run=FAST),

        sanitized(
            "thread", "thread", THREADED, PURE, processors=ONE,
            environment={"LD_PRELOAD": f"{ROOT}/.build/thread/mutex-for-tsan.so"}),
        sanitized("address", "address", FOREIGN, PURE, processors=ONE),
        # Suppressions name functions of libavformat, GLib and libx265, which only whole stacks contain. Freed memory
        # is returned soon, because these suites check growth.
        sanitized(
            "inputs", "address", HOSTILE, processors=ONE,
            environment={"ASAN_OPTIONS": "quarantine_size_mb=16:fast_unwind_on_malloc=0"}),
        # Only Inlet's side of plug-ins: the sandbox of a child leaves no room for a sanitizer, so children come from
        # the plain build. Tests that cancel and kill are left out: they take five minutes here.
        sanitized(
            "plugins", "address", PLUGINS, processors=ONE, environment={"ASAN_OPTIONS": "quarantine_size_mb=16"}),
        # The gallery of hostile clients is left out: a server under a sanitizer cannot answer in time.
        sanitized(
            "viewers", "address", VIEWERS, processors=ONE,
            environment={
                "ASAN_OPTIONS": "quarantine_size_mb=16:fast_unwind_on_malloc=0", "INLET_GROWTH": "150000",
                "INLET_WORKERS": "1"}),

        # Repetition that finds rare failures. CI runs the same tests with a tenth of the rounds or fewer.
        Stage(
            "schedules", matching=r"\.FaultSimulationTests/", limit=3600, processors=ONE,
            environment={"INLET_SCHEDULES": "100000"}, run=NIGHTLY),
        Stage(
            "rounds", matching=r"\.(RoomOrder|JanusOrder)Tests/random", apart=True, limit=3600, processors=ONE,
            environment={"INLET_ROUNDS": "200"}, run=NIGHTLY),
        Stage(
            "formats", matching=r"\.VirtualMachineTests/", apart=True, after=("build", "clips", "machine"), limit=1800,
            processors=ONE, not_beside=("cameras",), environment={"INLET_SIZES": "3"}, run=NIGHTLY,
            needs=("--vm",)),
        Stage(
            "power-long", ("Scripts/power-cuts", "--cuts", "200", "--without-each"), after=("build", "machine"),
            limit=7200, processors=ONE, run=NIGHTLY, needs=("--vm",)),
        Stage(
            "sessions", matching=r"\.ViewerTroubleTests/", apart=True, limit=7200, processors=ONE,
            environment={"INLET_SESSIONS": "500", "INLET_OFFERS": "600"}, run=NIGHTLY),
        sanitized(
            "inputs-long", "address", HOSTILE, limit=7200, processors=ONE, run=NIGHTLY,
            environment={
                "ASAN_OPTIONS": "quarantine_size_mb=16:fast_unwind_on_malloc=0", "INLET_INPUTS": "100000"}),
        # A new package with the lines of README.md, which builds all of Inlet again.
        Stage("readme", ("Scripts/samples", "README"), limit=3600, processors=ONE, run=NIGHTLY),
        Stage("matrix-all", ("Scripts/matrix", "--all"), limit=3600, processors=ONE, needs=("--test",), run=NIGHTLY),
        Stage("fuzz", ("Scripts/fuzz", "--seconds", "900"), limit=10_800, processors=ONE, run=NIGHTLY),
        # These measure memory and pictures per second over ten minutes each.
        Stage(
            "soak", ("bash", "-c", "swift build -c release --product BridgeBenchmark && Scripts/soak"), limit=7200,
            processors=ALONE, run=NIGHTLY),
        Stage("soak-serve", ("Scripts/soak-serve",), limit=7200, processors=ALONE, run=NIGHTLY),
    ]
