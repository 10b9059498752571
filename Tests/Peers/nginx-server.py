#!/usr/bin/python3
"""nginx as a reverse proxy, or as a server of a file, an HLS stream of it, or a folder, over HTTP or HTTPS. See
README.md."""

import os
import re
import shutil
import subprocess
import threading
import time

import peer


def make_hls(options, folder, file):
    """Cuts the file into segments without encoding. With --live, it repeats the file in real time and deletes old
    segments."""
    os.mkdir(f"{folder}/hls")
    target = ["-c", "copy", "-an", "-f", "hls", "-hls_time", str(options.segment)]
    name = f"{folder}/hls/index.m3u8"
    base = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-y"]
    if options.live:
        flags = ["-hls_flags", "delete_segments", "-hls_list_size", "4"]
        peer.spawn(
            [*base, "-re", "-stream_loop", "-1", "-i", file, *target, *flags, name],
            stdin=subprocess.DEVNULL, stdout=2)
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
        ("USER", user), ("FOLDER", folder), ("PORT", str(port)), ("SSL", "ssl" if certificates else ""), ("TLS", tls),
        ("AUTH", auth), ("RATE", rate), ("SCRATCH", scratch),
    ):
        text = text.replace(f"@{name}@", value)
    stated = "proxy_set_header X-Forwarded-Prefix /cams;" if options.states_path else ""
    if options.passes_host:
        stated += " proxy_set_header Host $http_host;"
    proxy = f"""location /cams/ {{
            proxy_pass {options.proxy}/;
            proxy_http_version 1.1;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Host $http_host;
            {stated}
        }}""" if options.proxy else ""
    text = text.replace("@PROXY@", proxy)
    path = f"{folder}/nginx.conf"
    with open(path, "w") as out:
        out.write(text)
    return path


def main():
    parser = peer.parser(__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--file", help="the file to serve, under its own name and as /hls/index.m3u8")
    what.add_argument("--folder", help="the folder to serve unchanged as /hls")
    what.add_argument("--proxy", metavar="URL", help="a server to pass requests below /cams/ to")
    parser.add_argument("--passes-host", action="store_true", help="--proxy passes on the client's Host header")
    parser.add_argument("--states-path", action="store_true", help="--proxy sends X-Forwarded-Prefix")
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    parser.add_argument("--tls", action="store_true", help="HTTPS with a certificate from a new authority")
    parser.add_argument("--certificate-name", default="localhost",
                        help="another name gives a certificate that does not match")
    parser.add_argument("--live", action="store_true", help="the HLS stream never ends")
    parser.add_argument("--segment", type=float, default=1, help="the duration of a segment in seconds")
    parser.add_argument("--user", default="camera")
    parser.add_argument("--password", help="require user and password (basic)")
    parser.add_argument("--rate", help="bytes a second, such as 100k")
    options = parser.parse_args()
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.path.exists(program):
        peer.fail("nginx is missing: apt-get install nginx-light")
    folder, served = peer.folder(), os.path.abspath(options.file or options.folder or "cams/")
    os.mkdir(f"{folder}/www")
    if options.proxy:
        pass
    elif options.file:
        os.symlink(served, f"{folder}/www/{os.path.basename(served)}")
        make_hls(options, f"{folder}/www", served)
    else:
        os.symlink(served, f"{folder}/www/hls")
    certificates = peer.make_certificates(options.certificate_name) if options.tls else None
    if options.password:
        with open(f"{folder}/users", "w") as out:
            out.write(f"{options.user}:{{PLAIN}}{options.password}\n")
    server = Server(options, folder, certificates, program)
    # nginx cannot report the port it chose for 0, and another program may take a free port before nginx does: then try
    # another.
    for _ in range(5):
        if server.start(options.port or peer.free_port()):
            break
        peer.stop_child(server.child)
    else:
        peer.fail("nginx did not start; see standard error")
    base = f"{'https' if options.tls else 'http'}://127.0.0.1:{server.port}"
    ready = {"port": server.port, "url": f"{base}/{os.path.basename(served)}", "hls": f"{base}/hls/index.m3u8"}
    if certificates:
        ready["ca"] = certificates[0]
    handlers = {
        "requests": lambda _: requests(folder), "restart": server.restart,
        "restart between segments": server.restart_between_segments}
    peer.serve(options, handlers, ready)
    threading.Event().wait()


class Server:
    """nginx, which can be killed and restarted at its port."""

    def __init__(self, options, folder, certificates, program):
        self.options, self.folder, self.certificates, self.program = options, folder, certificates, program

    def start(self, port):
        self.port = port
        path = configuration(self.options, self.folder, port, self.certificates)
        self.child = peer.spawn([self.program, "-c", path, "-e", "stderr"], stdin=subprocess.DEVNULL, stdout=2)
        return peer.wait_for_port(port, self.child)

    def restart(self, _):
        """Kills nginx at any moment and restarts it."""
        self.child.kill()
        self.child.wait()
        if not self.start(self.port):
            raise RuntimeError("nginx did not start; see standard error")

    def restart_between_segments(self, _):
        """Kills nginx when the player has every existing segment, so that none is truncated or refused, and restarts
        it."""
        deadline = time.monotonic() + 15
        while not self.is_player_up_to_date():
            if time.monotonic() > deadline:
                raise RuntimeError("no client had all segments within 15 s")
            time.sleep(0.01)
        self.restart(_)

    def is_player_up_to_date(self):
        """Returns whether the newest segment of the playlist was sent: then the next request can only be for a
        playlist."""
        with open(f"{self.folder}/www/hls/index.m3u8") as playlist:
            newest = [line for line in playlist.read().splitlines() if not line.startswith("#")][-1]
        sent = re.compile(rf"GET /hls/{re.escape(newest)} .* (200|206)$")
        return any(sent.match(line) for line in requests(self.folder)["requests"][-20:])


def requests(folder):
    with open(f"{folder}/access.log") as log:
        return {"requests": log.read().splitlines()}


if __name__ == "__main__":
    main()
