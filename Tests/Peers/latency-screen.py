#!/usr/bin/env python3
"""Makes `inlet latency screen: --screen` read the time that its page shows in Chromium on an X server without a screen,
as a camera films it, and prints its JSON.

Usage: latency-screen.py [--inlet PROGRAM] [--duration SECONDS] [--screenshot FILE]
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import peer
import whep

SIZE = "1280x800"


def until(condition, what, limit=30):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"latency-screen: {what}")
        time.sleep(0.05)


def is_served(address):
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inlet", default=f"{whep.ROOT}/.build/release/inlet")
    parser.add_argument("--duration", default="3")
    parser.add_argument("--screenshot")
    options = parser.parse_args()
    # A test's thread may have blocked signals. Children inherit that, and Chromium needs the signals.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{SIZE}x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    started = [server]
    try:
        with os.fdopen(read) as answer, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            display = ":" + answer.readline().strip()
            address = f"127.0.0.1:{peer.free_port()}"
            inlet = subprocess.Popen(
                [options.inlet, "latency", f"screen:{display}?cursor=false", "--screen", "--screen-address", address,
                 "--duration", options.duration, "--timeout", "40", "--json"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            started.append(inlet)
            until(lambda: is_served(f"http://{address}/") or inlet.poll() is not None, "the page is not served")
            started.append(subprocess.Popen(
                ["chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}",
                 f"--window-size={SIZE.replace('x', ',')}", "--window-position=0,0", f"--app=http://{address}/"],
                env={**os.environ, "DISPLAY": display, "HOME": folder}, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))
            if options.screenshot:
                time.sleep(5)
                subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-video_size", SIZE, "-i", display,
                                "-frames:v", "1", options.screenshot], check=True)
            said, complaints = inlet.communicate(timeout=80)
            if inlet.returncode:
                sys.exit(f"latency-screen: inlet ended with {inlet.returncode}: {complaints}")
            print(json.dumps(json.loads(said)))
    finally:
        for process in reversed(started):
            if process.poll() is None and process is started[-1] and len(started) == 3:
                # Chromium's processes form a group.
                os.killpg(process.pid, signal.SIGKILL)
            whep.stop(process)


main()
