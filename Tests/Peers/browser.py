"""Headless Chromium, controlled by WebDriver's HTTP through chromedriver."""

import base64
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

LIMIT = 60
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000"]
# Media over the loopback interface, with addresses that are not hidden.
WEBRTC = ["--allow-loopback-in-peer-connection", "--disable-features=WebRtcHideLocalIpsWithMdns"]


class Browser:
    """A browser with a separate profile, for a `with` statement.

    `spawn` starts its driver like subprocess.Popen. `logs` names the logs that are kept: `browser` is the console,
    `performance` has the events of the DevTools protocol.
    """

    def __init__(self, *flags, spawn=subprocess.Popen, logs=()):
        self.flags, self.spawn, self.logs = [*FLAGS, *flags], spawn, logs

    def __enter__(self):
        # A test's thread may have blocked signals. Children inherit that, and Chromium needs the signals.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.start_driver()
        options = {"args": [*self.flags, f"--user-data-dir={self.profile.name}/data"]}
        # "none", because `open` waits for the page.
        wanted = {"goog:chromeOptions": options, "pageLoadStrategy": "none",
                  "goog:loggingPrefs": dict.fromkeys(self.logs, "ALL")}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += "/session/" + session["sessionId"]
        return self

    def start_driver(self):
        """Starts the driver, and restarts it if it ends before it listens, which happens once in some hundred starts.
        """
        said = ""
        for _ in range(5):
            self.driver = self.spawn(
                ["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, env={**os.environ, "HOME": self.profile.name})
            for line in self.driver.stdout:
                said += line
                if found := re.search(r"successfully on port (\d+)", line):
                    self.base = f"http://127.0.0.1:{found[1]}"
                    return
            self.driver.wait()
        raise RuntimeError(f"chromedriver did not start: {said}")

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            # Replaces the bare status with WebDriver's error message.
            error.msg = f"{error.msg}: {error.read().decode(errors='replace')[:500]}"
            raise

    def open(self, url):
        """Opens a page and waits for it at most 5 seconds: a page with an endless picture never finishes loading.

        Chromium's first page (about:blank, or that of a new tab) may replace the requested one while it loads, so this
        checks the address and requests the page again.
        """
        for _ in range(10):
            self.call("POST", "/url", {"url": url})
            begun, own = time.monotonic(), True
            while time.monotonic() < begun + (1 if own else 5):
                address, state = self.run("return [location.href, document.readyState]")
                own = address.startswith(("about:", "chrome:", "data:,"))
                if not own and state == "complete":
                    return
                time.sleep(0.02)
            if not own:
                return
        raise TimeoutError(f"Chromium did not go to {url}")

    def log(self, kind):
        """Returns the entries of a log since the last call."""
        return self.call("POST", "/se/log", {"type": kind})

    def run(self, script, *arguments):
        """Runs a script in the page and returns its result."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script, wanted):
        """Runs a script until its result is the wanted one, and returns the result; after a timeout, returns the last
        one."""
        end = time.monotonic() + LIMIT
        while True:
            seen = self.run(script)
            if wanted(seen) or time.monotonic() > end:
                return seen
            time.sleep(0.05)

    def press(self, *keys):
        """Presses keys in sequence."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def screenshot(self, path):
        """Writes a PNG screenshot of the page."""
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("GET", "/screenshot")))
