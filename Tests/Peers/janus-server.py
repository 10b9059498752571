#!/usr/bin/python3
"""Janus with its VideoRoom on 127.0.0.1: an open room, one with a PIN, and one for a single publisher; with TLS only,
if a name for the certificate is given.

See README.md.
"""

import os
import shutil
import subprocess
import threading

import peer

CORE = """
general: {
    configs_folder = "%(folder)s"
    plugins_folder = "%(plugins)s"
    transports_folder = "%(transports)s"
    interface = "127.0.0.1"
    debug_level = 4
    session_timeout = 20
    protected_folders = []
}
media: { ipv6 = false }
plugins: { disable = "%(others)s" }
transports: { disable = "%(transports_off)s" }
"""

WEBSOCKETS = """
general: { json = "compact", ws = true, ws_port = %(port)d, ws_ip = "127.0.0.1", wss = false }
"""

SECURE_WEBSOCKETS = """
general: { json = "compact", ws = false, wss = true, wss_port = %(port)d, wss_ip = "127.0.0.1" }
certificates: { cert_pem = "%(certificate)s", cert_key = "%(key)s" }
"""

ROOMS = """
room-1234: { description = "open", publishers = 6, bitrate = 2000000, videocodec = "h264,vp8" }
room-4321: { description = "with a PIN", publishers = 6, videocodec = "h264", pin = "hum-a-tune" }
room-1: { description = "for one", publishers = 1, videocodec = "h264" }
"""


def folder(name):
    for base in ("/usr/lib/x86_64-linux-gnu/janus", "/usr/lib/aarch64-linux-gnu/janus"):
        if os.path.isdir(f"{base}/{name}"):
            return f"{base}/{name}"
    peer.fail(f"Janus has no folder of {name}")


def others(of, kept):
    return ",".join(sorted(each for each in os.listdir(of) if each.endswith(".so") and each != kept))


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--port", type=int, default=0, help="port of the WebSocket; 0 selects a free one")
    parser.add_argument("--certificate-name", metavar="NAME", help="serve over TLS, with a certificate for NAME")
    options = parser.parse_args()
    program = shutil.which("janus")
    if program is None:
        peer.fail("Janus is missing: apt-get install janus")
    port = options.port or peer.free_port()
    plugins, transports = folder("plugins"), folder("transports")
    values = {
        "folder": peer.folder(), "plugins": plugins, "transports": transports, "port": port,
        "others": others(plugins, "libjanus_videoroom.so"),
        "transports_off": others(transports, "libjanus_websockets.so"),
    }
    ready, websockets = {"port": port}, WEBSOCKETS
    if options.certificate_name:
        ready["ca"], values["certificate"], values["key"] = peer.make_certificates(options.certificate_name)
        ready["other"], _, _ = peer.make_certificates(label="other")
        websockets = SECURE_WEBSOCKETS
    for name, text in (("janus.jcfg", CORE), ("janus.transport.websockets.jcfg", websockets),
                       ("janus.plugin.videoroom.jcfg", ROOMS)):
        with open(f"{peer.folder()}/{name}", "w") as out:
            out.write(text % values if "%(" in text else text)
    log = open(f"{peer.folder()}/log", "w")
    child = peer.spawn(
        [program, f"--config={peer.folder()}/janus.jcfg", f"--configs-folder={peer.folder()}", "--disable-colors"],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if not peer.wait_for_port(port, child):
        log.flush()
        with open(log.name) as lines:
            peer.fail("Janus did not start: " + lines.read()[-2000:])

    def report(_):
        """Returns the end of its log."""
        with open(log.name, errors="replace") as lines:
            return {"log": lines.read()[-4000:]}

    peer.serve(options, {"report": report}, {**ready, "pid": child.pid})
    threading.Event().wait()


if __name__ == "__main__":
    main()
