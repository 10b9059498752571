#!/usr/bin/python3
"""VLC as a second RTSP server: sends a file repeatedly. See README.md."""

import os
import shutil
import socket
import subprocess
import threading
import time

import peer


def is_described(url, port, seconds=10):
    """Waits until VLC has its stream; until then VLC answers 5xx."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), 2) as asking:
                asking.sendall(f"DESCRIBE {url} RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n\r\n".encode())
                if asking.recv(64).startswith(b"RTSP/1.0 200"):
                    return True
        except OSError:
            pass
        time.sleep(0.05)
    return False


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--file", required=True)
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    parser.add_argument("--seconds", type=int, default=120,
                        help="the time for which the file is repeated before VLC restarts it")
    parser.add_argument("--mux", choices=["none", "ts"], default="none", help="ts: in an MPEG transport stream")
    options = parser.parse_args()
    if not shutil.which("cvlc"):
        peer.fail("VLC is missing: apt-get install vlc-bin vlc-plugin-base")
    # VLC refuses root, so it runs as nobody and must be able to read the file. When a file repeats, VLC removes its
    # stream for a moment and answers 404, so this script makes a long file from a short one.
    folder = peer.folder()
    copy = os.path.join(folder, "stream" + os.path.splitext(options.file)[1])
    done = subprocess.run(
        ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-stream_loop", "-1", "-i", options.file,
         "-map", "0:v:0", "-c", "copy", "-t", str(options.seconds), copy], capture_output=True, text=True)
    if done.returncode:
        peer.fail(f"ffmpeg cannot copy {options.file}: {done.stderr.strip()}")
    os.chmod(copy, 0o644)
    os.mkdir(f"{folder}/home")
    os.chmod(f"{folder}/home", 0o777)
    # VLC cannot take port 0, and another program may take a free port before VLC does: then try another.
    mux = ",mux=ts" if options.mux == "ts" else ""
    for _ in range(5):
        port = options.port or peer.free_port()
        url = f"rtsp://127.0.0.1:{port}/stream"
        child = peer.spawn(
            ["cvlc", "--no-audio", "--loop", "--sout", f"#rtp{{sdp={url}{mux}}}", "--sout-keep", copy],
            user="nobody", cwd=folder, env={**os.environ, "HOME": f"{folder}/home"}, stdin=subprocess.DEVNULL, stdout=2)
        if peer.wait_for_port(port, child) and is_described(url, port):
            break
        peer.stop_child(child)
    else:
        peer.fail("VLC did not listen; see standard error")
    peer.serve(options, {}, {"port": port, "url": url})
    child.wait()
    peer.say({"event": "ended", "status": child.returncode})
    threading.Event().wait()


if __name__ == "__main__":
    main()
