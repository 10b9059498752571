#!/usr/bin/python3
"""nginx that serves a file, and HLS made of it, over HTTP or HTTPS. See README.md."""

import os
import shutil
import subprocess
import time

import peer


def make_hls(options, folder, file):
    """Cuts the file into segments without encoding it; with --live only as fast as it plays, over and over, the old ones deleted."""
    os.mkdir(f"{folder}/hls")
    target = ["-c", "copy", "-an", "-f", "hls", "-hls_time", str(options.segment)]
    name = f"{folder}/hls/index.m3u8"
    base = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-y"]
    if options.live:
        flags = ["-hls_flags", "delete_segments", "-hls_list_size", "4"]
        peer.spawn([*base, "-re", "-stream_loop", "-1", "-i", file, *target, *flags, name], stdin=subprocess.DEVNULL, stdout=2)
        deadline = time.monotonic() + 15
        while not os.path.exists(name):
            if time.monotonic() > deadline:
                peer.fail("ffmpeg made no live HLS within 15 s")
            time.sleep(0.05)
        return
    done = subprocess.run([*base, "-i", file, *target, "-hls_list_size", "0", name], capture_output=True, text=True)
    if done.returncode:
        peer.fail(f"ffmpeg made no HLS: {done.stderr.strip()}")


def configuration(options, folder, port, certificates):
    user = "user root;" if os.geteuid() == 0 else ""
    tls = f"ssl_certificate {certificates[1]}; ssl_certificate_key {certificates[2]};" if certificates else ""
    auth = f'auth_basic "camera"; auth_basic_user_file {folder}/users;' if options.password else ""
    rate = f"limit_rate {options.rate};" if options.rate else ""
    scratch = "".join(
        f"{name}_temp_path {folder}/scratch-{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "nginx.conf")) as template:
        text = template.read()
    for name, value in (
        ("USER", user), ("FOLDER", folder), ("PORT", str(port)), ("SSL", "ssl" if certificates else ""), ("TLS", tls), ("AUTH", auth),
        ("RATE", rate), ("SCRATCH", scratch),
    ):
        text = text.replace(f"@{name}@", value)
    path = f"{folder}/nginx.conf"
    with open(path, "w") as out:
        out.write(text)
    return path


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--file", required=True, help="what to serve, under its own name and as /hls/index.m3u8")
    parser.add_argument("--port", type=int, default=0, help="port; 0 takes a free one")
    parser.add_argument("--tls", action="store_true", help="HTTPS with a certificate by an authority made now")
    parser.add_argument("--certificate-name", default="localhost", help="another name makes a certificate that does not fit")
    parser.add_argument("--live", action="store_true", help="HLS goes on for ever")
    parser.add_argument("--segment", type=float, default=1, help="seconds of a segment")
    parser.add_argument("--user", default="camera")
    parser.add_argument("--password", help="asks for user and password (basic)")
    parser.add_argument("--rate", help="bytes a second, such as 100k")
    options = parser.parse_args()
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.path.exists(program):
        peer.fail("nginx is missing: apt-get install nginx-light")
    folder, file = peer.folder(), os.path.abspath(options.file)
    os.mkdir(f"{folder}/www")
    os.symlink(file, f"{folder}/www/{os.path.basename(file)}")
    make_hls(options, f"{folder}/www", file)
    certificates = peer.make_certificates(options.certificate_name) if options.tls else None
    if options.password:
        with open(f"{folder}/users", "w") as out:
            out.write(f"{options.user}:{{PLAIN}}{options.password}\n")
    # nginx cannot say which port it took for 0, and the port found free may be taken meanwhile: then another.
    for _ in range(5):
        port = options.port or peer.free_port()
        path = configuration(options, folder, port, certificates)
        child = peer.spawn([program, "-c", path, "-e", "stderr"], stdin=subprocess.DEVNULL, stdout=2)
        if peer.wait_for_port(port, child):
            break
        peer.stop_child(child)
    else:
        peer.fail("nginx did not start; see standard error")
    scheme = "https" if options.tls else "http"
    ready = {"port": port, "url": f"{scheme}://127.0.0.1:{port}/{os.path.basename(file)}"}
    ready["hls"] = f"{scheme}://127.0.0.1:{port}/hls/index.m3u8"
    if certificates:
        ready["ca"] = certificates[0]
    peer.serve(options, {"requests": lambda _: requests(folder)}, ready)
    child.wait()
    peer.say({"event": "ended", "status": child.returncode})
    peer.end(1)


def requests(folder):
    with open(f"{folder}/access.log") as log:
        return {"requests": log.read().splitlines()[-200:]}


if __name__ == "__main__":
    main()
