#!/usr/bin/env python3
"""Shows how a session behaves when the network changes, in network namespaces. Prints one JSON object.

Usage: network-change.py CASE [--inlet PROGRAM] [--screenshot FILE]

Needs root, or at least permission to create network namespaces; without it, prints an error and ends with 69. There are
two namespaces, `home` with Inlet and `away` with its peer, and one link between them. Cases:

no-udp     Chromium on the page of `webrtc:`, while iptables drops all UDP. `dropped` counts the dropped packets, and
           `path` is the path of the pictures.
viewer     Chromium on the page of `webrtc:`; the address of `away` changes while it plays.
camera     Chromium on the page of `whip:`, as a camera; the address of `away` changes.
publisher  `whip+http:` to aiortc; the address of `home` changes.
source     `whep+http:` from aiortc; the address of `home` changes.
lost       as publisher, but the new address appears seconds after the old one is removed.
cable      as publisher; the link has no carrier for some seconds, and then the same addresses.

`before` and `after` count pictures before and after the change. `seconds` is the time from the change to the next
picture, and `asked` that from the change to the request that begins the next session, as seen by its server.
"""
import argparse
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time

import namespaces
import peer
import timecode
import whep
from browser import Browser

PEERS = f"{whep.ROOT}/Tests/Peers"
NET = "10.78.1"
HOME, OTHER_HOME, AWAY, OTHER_AWAY = f"{NET}.2", f"{NET}.3", f"{NET}.1", f"{NET}.4"
LIMIT = 30
WIDTH, HEIGHT = 640, 480
WATCH = """
window.seen = 0;
const video = document.getElementById("video");
const look = (now, frame) => { window.seen++; video.requestVideoFrameCallback(look); };
video.requestVideoFrameCallback(look);
"""
PATH = """
const done = arguments[arguments.length - 1];
peer.getStats().then(report => { let found = {};
  report.forEach(pair => { if (pair.type === "candidate-pair" && pair.nominated && pair.state === "succeeded") {
    const local = report.get(pair.localCandidateId), remote = report.get(pair.remoteCandidateId);
    found = { protocol: local.protocol, local: local.tcpType, remote: remote.tcpType }; } });
  done(found); });
"""


def until(what, condition, limit=LIMIT):
    """Returns the seconds until a condition is true. Ends the script after a timeout."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() > begun + limit:
            raise TimeoutError(what)
        time.sleep(0.02)
    return time.monotonic() - begun


def change_address(within, old, new, wait=0):
    """Changes the address of a namespace's only link."""
    def ip(*words):
        subprocess.run([*within, "ip", *words], check=True, capture_output=True)
    links = subprocess.run([*within, "ip", "-json", "link"], check=True, capture_output=True, text=True).stdout
    link = next(each["ifname"] for each in json.loads(links) if each["ifname"] != "lo" and "UP" in each["flags"])
    ip("addr", "del", f"{old}/24", "dev", link)
    time.sleep(wait)
    ip("addr", "add", f"{new}/24", "dev", link)


def pull_cable(wait):
    """Removes the carrier of both ends for a while."""
    links = subprocess.run(["ip", "-json", "link"], check=True, capture_output=True, text=True).stdout
    link = next(each["ifname"] for each in json.loads(links) if each["ifname"] != "lo" and "UP" in each["flags"])
    subprocess.run(["ip", "link", "set", link, "down"], check=True, capture_output=True)
    time.sleep(wait)
    subprocess.run(["ip", "link", "set", link, "up"], check=True, capture_output=True)


class Capture:
    """An `inlet run` that writes pictures to standard output. The script counts and reads them."""

    def __init__(self, options, within, source):
        self.numbers, self.times, self.unread = [], [], 0
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [*within, options.inlet, "run", source, "--to", "y4m:-", "--size", f"{WIDTH}x{HEIGHT}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        stream = self.process.stdout
        stream.readline()
        while stream.readline():
            picture = stream.read(WIDTH * HEIGHT * 3 // 2)
            if len(picture) < WIDTH * HEIGHT * 3 // 2:
                return
            found = timecode.read(picture, WIDTH, HEIGHT)
            if found is None:
                self.unread += 1
            else:
                self.times.append(time.monotonic())
                self.numbers.append(found[0])

    def arrived(self, after):
        return sum(time > after for time in self.times)

    def longest_gap(self, after):
        times = [after, *(time for time in self.times if time > after)]
        return max(b - a for a, b in zip(times, times[1:]))

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        whep.stop(self.process)


class Peer:
    """A peer of this folder that takes commands."""

    def __init__(self, script, *arguments):
        self.process = subprocess.Popen(
            [whep.AIORTC, "-B", f"{PEERS}/{script}", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.ready = json.loads(self.process.stdout.readline())

    def ask(self, command, **message):
        self.process.stdin.write(json.dumps({"command": command, **message}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


def lines(text):
    """Returns Inlet's messages about the network."""
    return [line for line in text.splitlines() if "network" in line.lower()]


def look_at_page(options, home):
    """Opens the page of `webrtc:` in Chromium, without UDP or with a change of address."""
    is_blocked = options.case == "no-udp"
    rules = [("INPUT", "-i"), ("OUTPUT", "-o")]
    if is_blocked:
        for chain, _ in rules:
            subprocess.run([*home, "iptables", "-w", "-A", chain, "-p", "udp", "-j", "DROP"], check=True)
    options.sink = ""
    with whep.Inlet(options, host=HOME, within=home) as server, Browser(
            "--disable-features=WebRtcHideLocalIpsWithMdns", "--autoplay-policy=no-user-gesture-required") as browser:
        browser.open(server.page)
        browser.run(WATCH)

        def seen():
            return browser.run("return window.seen")
        until("the first pictures", lambda: seen() >= 30)
        found = {"before": seen()}
        if is_blocked:
            found["path"] = browser.call("POST", "/execute/async", {"script": PATH, "args": []})
            listed = subprocess.run(
                [*home, "iptables", "-w", "-nvxL"], check=True, capture_output=True, text=True).stdout
            found["dropped"] = sum(int(line.split()[0]) for line in listed.splitlines() if "DROP" in line)
        else:
            change_address([], AWAY, OTHER_AWAY)
            words, changed = [], time.monotonic()

            def note():
                state = browser.run("return document.getElementById('state').textContent")
                if not words or words[-1] != state:
                    words.append(state)
                return state == "live" and "reconnecting" in words
            until("the page to restart", note)
            at = seen()
            until("pictures after the change", lambda: seen() >= at + 30)
            found.update(seconds=time.monotonic() - changed, after=seen() - at, states=words)
        if options.screenshot:
            browser.screenshot(options.screenshot)
        return found


def be_camera(options, home):
    port = peer.free_port()
    capture = Capture(options, home, f"whip:{HOME}:{port}?token={whep.Inlet.TOKEN}")
    camera = None
    try:
        camera = Peer("camera-browser.py", f"--flag=--unsafely-treat-insecure-origin-as-secure=http://{HOME}:{port}")
        until("the page", lambda: not subprocess.call(
            ["curl", "-s", "-o", "/dev/null", f"http://{HOME}:{port}/"]))
        answer = camera.ask("open", url=f"http://{HOME}:{port}/?token={whep.Inlet.TOKEN}")
        if not answer["ok"]:
            raise RuntimeError(answer["error"])
        camera.ask("start")
        until("the first pictures", lambda: len(capture.numbers) >= 30)
        before = len(capture.numbers)
        change_address([], AWAY, OTHER_AWAY)
        changed = time.monotonic()
        # Pictures already on their way still arrive. Then the page reconnects, or ICE finds the other address.
        until("pictures after the change", lambda: capture.arrived(after=changed + 1) >= 60)
        gap = capture.longest_gap(after=changed)
        return {"before": before, "seconds": gap, "after": capture.arrived(after=changed), "unread": capture.unread,
                "state": camera.ask("look")["state"]}
    except Exception as error:
        page = camera.ask("look") if camera else ""
        raise RuntimeError(f"{error}: {page} {capture.text()[-2000:]}") from error
    finally:
        if camera:
            camera.end()
        capture.end()


def publish(options, home):
    server = Peer("whip-server.py", "--host", AWAY)
    log = tempfile.TemporaryFile("w+")
    inlet = subprocess.Popen(
        [*home, options.inlet, "run", f"pattern:timecode?size={WIDTH}x{HEIGHT}&fps=30", "--to",
         f"whip+http://{AWAY}:{server.ready['port']}/whip", "--report", "none"],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until("the first pictures", lambda: server.ask("report")["count"] >= 30)
        before = server.ask("report")
        if options.case == "cable":
            pull_cable(4)
        else:
            change_address(home, HOME, OTHER_HOME, 3 if options.case == "lost" else 0)
        changed = time.monotonic()
        asked = until("another session", lambda: server.ask("report")["sessions"] > before["sessions"])
        at = server.ask("report")["count"]
        until("pictures after the change", lambda: server.ask("report")["count"] >= at + 1)
        seconds = time.monotonic() - changed
        until("more pictures", lambda: server.ask("report")["count"] >= at + 30)
        after = server.ask("report")
        log.seek(0)
        return {"before": before["count"], "after": after["count"] - at, "seconds": seconds, "asked": asked,
                "sessions": after["sessions"], "unread": after["unread"], "log": lines(log.read())}
    except Exception as error:
        log.seek(0)
        raise RuntimeError(f"{error}: {log.read()[-2000:]}") from error
    finally:
        whep.stop(inlet)
        server.end()


def view(options, home):
    server = Peer("track-sender.py", "serve", "--host", AWAY)
    capture = Capture(options, home, f"whep+http://{AWAY}:{server.ready['port']}/whep")
    try:
        until("the first pictures", lambda: len(capture.numbers) >= 30)
        before = len(capture.numbers)
        sessions = server.ask("report")["sessions"]
        change_address(home, HOME, OTHER_HOME)
        changed = time.monotonic()
        asked = until("another session", lambda: server.ask("report")["sessions"] > sessions)
        at = len(capture.numbers)
        until("pictures after the change", lambda: len(capture.numbers) > at)
        seconds = time.monotonic() - changed
        until("more pictures", lambda: len(capture.numbers) >= at + 30)
        return {"before": before, "after": len(capture.numbers) - at, "seconds": seconds, "asked": asked,
                "sessions": server.ask("report")["sessions"], "unread": capture.unread, "log": lines(capture.text())}
    except Exception as error:
        raise RuntimeError(f"{error}: {capture.text()[-2000:]}") from error
    finally:
        capture.end()
        server.end()


CASES = {"no-udp": look_at_page, "viewer": look_at_page, "camera": be_camera, "publisher": publish, "lost": publish,
         "cable": publish, "source": view}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=sorted(CASES))
    whep.add_options(parser, size=f"{WIDTH}x{HEIGHT}")
    parser.add_argument("--screenshot")
    parser.add_argument("--home", help=argparse.SUPPRESS)
    options = parser.parse_args()
    # A test's thread may have blocked signals. Children inherit that, and Chromium needs the signals.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if options.home:
        # Runs in `away`.
        try:
            found = CASES[options.case](options, ["ip", "netns", "exec", options.home])
        except (TimeoutError, RuntimeError) as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        return print(json.dumps(found))
    with namespaces.Network("home", "away") as network:
        network.link("home", HOME, "away", AWAY)
        again = [*network.within("away"), sys.executable, "-B", *sys.argv, "--home", network.names["home"]]
        sys.exit(subprocess.run(again).returncode)


main()
