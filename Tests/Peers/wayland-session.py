#!/usr/bin/python3
"""A Wayland session without a screen, shared by its desktop portal: sway, PipeWire with WirePlumber, xdg-desktop-portal
and its backend for wlroots. See README.md."""

import os
import signal
import subprocess
import time

import peer
import timecode

# xdg-desktop-portal-wlr 0.7.0 waits for a DMA-BUF format, which a software-rendering compositor doesn't announce; later
# versions don't wait. This shim announces one that is never used.
FORMAT_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
struct wl_proxy;
const char *wl_proxy_get_class(struct wl_proxy *);
int wl_proxy_add_listener(struct wl_proxy *proxy, void (**events)(void), void *data) {
    int (*next)(struct wl_proxy *, void (**)(void), void *) = dlsym(RTLD_NEXT, "wl_proxy_add_listener");
    int result = next(proxy, events, data);
    if (result == 0 && strcmp(wl_proxy_get_class(proxy), "zwlr_screencopy_frame_v1") == 0)
        ((void (*)(void *, struct wl_proxy *, uint32_t, uint32_t, uint32_t))events[5])(data, proxy, 0x34325258, 1, 1);
    return result;
}
"""

# A session bus that starts no services: Debian's would start a portal.
BARE_BUS = """<busconfig>
  <type>session</type>
  <listen>{address}</listen>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""

# The user's answer comes from the file `answer`.
CHOOSER = """#!/bin/sh
case $(cat {folder}/answer) in
    yes) echo HEADLESS-1 ;;
    never) exec sleep 600 ;;
    *) exit 1 ;;
esac
echo asked >> {folder}/asked
"""


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(text)
    os.chmod(path, mode)


class Session:
    def __init__(self, options):
        self.folder = peer.folder()
        self.pictures = None
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "DISPLAY"},
            "HOME": self.folder, "XDG_RUNTIME_DIR": self.make("run"), "XDG_CONFIG_HOME": self.folder + "/config",
            "XDG_DATA_HOME": self.folder + "/data", "XDG_STATE_HOME": self.folder + "/state",
            "XDG_CURRENT_DESKTOP": "sway", "XDG_SESSION_TYPE": "wayland", "GSETTINGS_BACKEND": "memory",
            "GIO_USE_VFS": "local", "LIBGL_ALWAYS_SOFTWARE": "1",
        }
        self.answer(options.answer)
        self.start_bus(options.bare)
        self.start_sway(options.size)
        if not options.bare:
            self.start_portal()

    def make(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def spawn(self, *arguments, log, user=None, **variables):
        with open(os.path.join(self.folder, log + ".log"), "w") as out:
            return peer.spawn(
                arguments, user=user, env={**self.environment, **variables}, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out)

    def wait(self, what, is_there, seconds=15):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := is_there():
                return found
            time.sleep(0.05)
        logs = {name: open(os.path.join(self.folder, name)).read()[-600:]
                for name in os.listdir(self.folder) if name.endswith(".log")}
        peer.fail(f"{what} did not come: {logs}")

    def start_bus(self, is_bare):
        address = f"unix:path={self.environment['XDG_RUNTIME_DIR']}/bus"
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        kind = ["--session", "--address=" + address]
        if is_bare:
            kind = ["--config-file=" + self.folder + "/bus.conf"]
            write(self.folder + "/bus.conf", BARE_BUS.format(address=address))
        self.spawn("dbus-daemon", "--nofork", *kind, log="bus")
        self.wait("the session bus", lambda: os.path.exists(address.removeprefix("unix:path=")))

    def start_sway(self, size):
        config = os.path.join(self.folder, "sway-config")
        write(config, f"output HEADLESS-1 mode {size}\noutput * bg #646464 solid_color\ndefault_border none\n"
                      "seat * hide_cursor 100\n")
        # sway refuses root, so it may run as another user, who owns the folder.
        runtime = self.make("sway")
        if os.geteuid() == 0:
            subprocess.run(["chown", "nobody", runtime], check=True)
        self.compositor = self.spawn(
            "sway", "--unsupported-gpu", "--config", config, log="sway", user="nobody", XDG_RUNTIME_DIR=runtime,
            HOME=runtime, WLR_BACKENDS="headless", WLR_RENDERER="pixman", WLR_LIBINPUT_NO_DEVICES="1")

        def sockets(prefix):
            return [os.path.join(runtime, name) for name in os.listdir(runtime)
                    if name.startswith(prefix) and not name.endswith(".lock")]

        self.environment["WAYLAND_DISPLAY"] = self.wait("sway", lambda: sockets("wayland-"))[0]
        self.environment["SWAYSOCK"] = self.wait("sway", lambda: sockets("sway-ipc"))[0]

    def start_portal(self):
        config = self.environment["XDG_CONFIG_HOME"]
        write(f"{config}/xdg-desktop-portal-wlr/config",
              f"[screencast]\nmax_fps=60\nchooser_type=simple\nchooser_cmd={self.folder}/chooser\n")
        write(f"{self.folder}/chooser", CHOOSER.format(folder=self.folder), 0o755)
        # Links streams but looks for no devices.
        write(f"{config}/wireplumber/main.lua.d/90-enable-all.lua",
              'load_module("metadata")\ndefault_access.enable()\n')
        shim = os.path.join(self.folder, "format.so")
        write(shim + ".c", FORMAT_SHIM)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, shim + ".c"], check=True, timeout=30)
        self.spawn("pipewire", log="pipewire")
        self.wait("PipeWire", lambda: os.path.exists(self.environment["XDG_RUNTIME_DIR"] + "/pipewire-0"))
        self.spawn("wireplumber", log="wireplumber")
        self.backend = self.spawn("/usr/libexec/xdg-desktop-portal-wlr", log="backend", LD_PRELOAD=shim)
        self.wait_for_name("org.freedesktop.impl.portal.desktop.wlr")
        self.frontend = self.spawn("/usr/libexec/xdg-desktop-portal", log="portal")
        self.wait_for_name("org.freedesktop.portal.Desktop")

    def wait_for_name(self, name):
        self.wait(name, lambda: self.call("org.freedesktop.DBus", "/org/freedesktop/DBus",
                                          "org.freedesktop.DBus.NameHasOwner", name).startswith("(true"))

    def call(self, *where_and_what):
        service, path, method, *parameters = where_and_what
        done = subprocess.run(
            ["gdbus", "call", "--session", "--dest", service, "--object-path", path, "--method", method, *parameters],
            env=self.environment, capture_output=True, text=True, timeout=10)
        return done.stdout

    def sway(self, *command):
        done = subprocess.run(
            ["swaymsg", *command], env=self.environment, capture_output=True, text=True, timeout=10)
        if done.returncode:
            raise RuntimeError(f"swaymsg {command}: {done.stdout}{done.stderr}")

    def answer(self, text):
        write(f"{self.folder}/answer", text)

    def asked(self):
        """Returns the number of questions that the user has answered."""
        try:
            with open(f"{self.folder}/asked") as lines:
                return {"count": len(lines.readlines())}
        except FileNotFoundError:
            return {"count": 0}

    def play(self, size, fps):
        """Shows live timecode pictures on the whole screen with GStreamer."""
        self.clear()
        width, height = (int(side) for side in size.split("x"))
        self.pictures = peer.spawn(
            ["gst-launch-1.0", "-q", "fdsrc", "fd=0", "!", "rawvideoparse", "format=i420", f"width={width}",
             f"height={height}", f"framerate={fps}/1", "!", "videoconvert", "!", "waylandsink",
             "sync=false"], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        timecode.feed(self.pictures, size, fps)

    def clear(self):
        if self.pictures:
            peer.stop_child(self.pictures)
        self.pictures = None

    def sessions(self):
        """Returns the paths of the sessions in the portal's backend."""
        root = "/org/freedesktop/portal/desktop/session"
        done = subprocess.run(
            ["gdbus", "introspect", "--session", "--recurse", "--only-properties", "--dest",
             "org.freedesktop.impl.portal.desktop.wlr", "--object-path", root], env=self.environment,
            capture_output=True, text=True, timeout=10)
        paths = [line.split()[1] for line in done.stdout.splitlines() if line.strip().startswith("node ")]
        return [path for path in paths if path.count("/") == 6]


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--size", default="640x480")
    parser.add_argument("--answer", default="yes", help="the user's answer: yes, no or never")
    parser.add_argument("--bare", action="store_true", help="without a portal")
    options = parser.parse_args()
    session = Session(options)
    kill = lambda child, number: os.kill(child.pid, number)
    peer.serve(options, {
        "answer": lambda message: session.answer(message["text"]),
        "asked": lambda message: session.asked(),
        "play": lambda message: session.play(message["size"], int(message["fps"])),
        "clear": lambda message: session.clear(),
        "resize": lambda message: session.sway("output", "HEADLESS-1", "mode", message["size"]),
        "turn": lambda message: session.sway("output", "HEADLESS-1", "transform", message["degrees"]),
        "sessions": lambda message: {"count": len(session.sessions())},
        "kill-backend": lambda message: kill(session.backend, signal.SIGKILL),
        "freeze-portal": lambda message: kill(session.frontend, signal.SIGSTOP),
        "thaw-portal": lambda message: kill(session.frontend, signal.SIGCONT),
    }, {"bus": session.environment["DBUS_SESSION_BUS_ADDRESS"], "folder": session.folder,
        "display": session.environment["WAYLAND_DISPLAY"], "runtime": session.environment["XDG_RUNTIME_DIR"]})
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main()
