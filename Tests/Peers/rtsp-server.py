#!/usr/bin/python3
"""An RTSP server (gst-rtsp-server) that sends live timecode pictures or a file. See README.md."""

import fractions
import os
import socket
import subprocess
import threading
import time

import namespaces
import peer
import timecode

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtsp", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer, GstVideo
except (ImportError, ValueError) as missing:
    peer.fail(f"gst-rtsp-server is missing: {missing}; apt-get install python3-gi gir1.2-gst-rtsp-server-1.0")

PAYLOADERS = {
    "h264": "h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1",
    "h265": "h265parse ! rtph265pay name=pay0 pt=96 config-interval=-1",
    "mjpeg": "jpegparse ! rtpjpegpay name=pay0 pt=26",
    "vp8": "rtpvp8pay name=pay0 pt=96",
    "vp9": "rtpvp9pay name=pay0 pt=96",
    "mpeg4": "mpeg4videoparse ! rtpmp4vpay name=pay0 pt=96 config-interval=1",
}
# The same formats in an MPEG transport stream: RFC 2250.
MULTIPLEXERS = {
    "h264": "h264parse config-interval=-1 ! mpegtsmux alignment=7 ! rtpmp2tpay name=pay0 pt=33",
    "h265": "h265parse config-interval=-1 ! mpegtsmux alignment=7 ! rtpmp2tpay name=pay0 pt=33",
}
# Each input picture immediately gives an output picture, so the measured delay excludes the encoder.
ENCODERS = {
    "h264": "x264enc name=encoder tune=zerolatency speed-preset=ultrafast bitrate={kbps} key-int-max={gop} "
            "threads=1 {extra}",
    "h265": "x265enc name=encoder tune=zerolatency speed-preset=ultrafast bitrate={kbps} key-int-max={gop} "
            "log-level=error",
    "mjpeg": "jpegenc name=encoder quality=85",
    "vp8": "vp8enc name=encoder deadline=1 cpu-used=8 lag-in-frames=0 target-bitrate={kbps}000 keyframe-max-dist={gop}",
    "vp9": "vp9enc name=encoder deadline=1 cpu-used=8 lag-in-frames=0 target-bitrate={kbps}000 keyframe-max-dist={gop}",
}
# x264enc and x265enc move the first picture to a thousand hours, to leave room for an earlier DTS.
ENCODER_START = 3_600_000 * Gst.SECOND
PROTOCOLS = {
    "tcp": GstRtsp.RTSPLowerTrans.TCP,
    "udp": GstRtsp.RTSPLowerTrans.UDP,
    "multicast": GstRtsp.RTSPLowerTrans.UDP_MCAST,
    "all": GstRtsp.RTSPLowerTrans.TCP | GstRtsp.RTSPLowerTrans.UDP | GstRtsp.RTSPLowerTrans.HTTP,
}


def read_options():
    parser = peer.parser(__doc__)
    parser.add_argument("--path", default="/stream", help="path of the URL")
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    parser.add_argument("--isolated", action="store_true",
                        help="listen in a separate network, at 10.77.0.1 and fe80::77:1; the ready line names the "
                             "process whose network the clients must join. Needs root")
    parser.add_argument("--mtu", type=int, default=1500, help="the largest packet of the isolated network, in bytes")
    parser.add_argument("--codec", choices=sorted(ENCODERS), default="h264")
    parser.add_argument("--size", default="640x480", help="of live pictures")
    parser.add_argument("--fps", default="30", help="of live pictures, such as 30 or 30000/1001")
    parser.add_argument("--gop", type=int, default=30, help="live frames from one key frame to the next")
    parser.add_argument("--kbps", type=int, default=2000, help="bit rate of live pictures")
    parser.add_argument("--bframes", type=int, default=0, help="B-frames between two other frames; H.264 only")
    parser.add_argument("--refresh", action="store_true",
                        help="refresh a part of each picture instead of sending key frames; H.264 only")
    parser.add_argument("--file",
                        help="an MP4 or Matroska file to send unchanged, from its start for each client, instead of "
                             "live pictures")
    parser.add_argument("--mux", choices=["none", "ts"], default="none",
                        help="ts: in an MPEG transport stream; H.264 and H.265 only")
    parser.add_argument("--transport", choices=sorted(PROTOCOLS), default="all",
                        help="the transports that the server accepts; all is TCP, UDP and HTTP")
    parser.add_argument("--auth", choices=["none", "basic", "digest"], default="none")
    parser.add_argument("--user", default="camera")
    parser.add_argument("--password", default="secret")
    parser.add_argument("--tls", action="store_true", help="rtsps with a certificate from a new authority")
    parser.add_argument("--certificate-name", default="localhost",
                        help="another name gives a certificate that does not match")
    parser.add_argument("--no-delay", action="store_true",
                        help="turn off Nagle's algorithm, which gst-rtsp-server leaves on")
    parser.add_argument("--retransmission", type=int, default=0, metavar="MS",
                        help="keep packets for this time, and resend them on request (RFC 4588)")
    parser.add_argument("--feedback", action="store_true",
                        help="the profile AVPF: a client may request a key frame (RFC 4585)")
    parser.add_argument("--session-timeout", type=int, default=60,
                        help="the seconds without a sign of life after which a session ends")
    parser.add_argument("--send-log",
                        help="file for a line a frame: number, CLOCK_MONOTONIC ns when drawn, ns when sent")
    return parser.parse_args()


class Live:
    """Draws pictures at the frame rate and pushes them into an appsrc while it plays."""

    def __init__(self, server, element):
        self.server = server
        self.options = dict(server.live)
        self.source = element.get_by_name("live")
        self.encoder = element.get_by_name("encoder")
        self.drawn = {}
        self.first = None
        self.is_ended = False
        pad = self.encoder.get_static_pad("src")
        pad.add_probe(Gst.PadProbeType.BUFFER, self.sent)
        pad.add_probe(Gst.PadProbeType.EVENT_UPSTREAM, self.asked)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        width, height = (int(side) for side in self.options["size"].split("x"))
        rate = fractions.Fraction(str(self.options["fps"]))
        duration = Gst.SECOND * rate.denominator // rate.numerator
        schedule, offset = self.server.schedule, None
        while not self.is_ended:
            number = schedule.wait()
            if self.server.is_stopped:
                continue
            clock = self.source.get_clock()
            if clock is None or self.source.get_state(0).state != Gst.State.PLAYING:
                continue
            due = number * Gst.SECOND * rate.denominator // rate.numerator
            now = time.monotonic_ns()
            if offset is None:
                # The clock's time at which this picture was due. Were it the time at which a late picture was drawn,
                # GStreamer would hold all pictures of the session for as long as the first was late.
                lateness = now - schedule.start - due
                offset = max(0, clock.get_time() - self.source.get_base_time()) - lateness - due
            buffer = Gst.Buffer.new_wrapped(timecode.draw(width, height, number, now, float(rate)))
            buffer.pts = buffer.dts = max(0, offset + due)
            buffer.duration = duration
            if self.first is None:
                self.first = buffer.pts
            self.drawn[buffer.pts] = (number, now)
            if len(self.drawn) > 256:
                self.drawn.pop(next(iter(self.drawn)))
            if self.source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                break

    def asked(self, _, info):
        structure = info.get_event().get_structure()
        if structure and structure.get_name() == "GstForceKeyUnit":
            self.server.key_requests += 1
        return Gst.PadProbeReturn.OK

    def request_key(self):
        self.encoder.get_static_pad("src").send_event(
            GstVideo.video_event_new_upstream_force_key_unit(Gst.CLOCK_TIME_NONE, True, 0))

    def sent(self, _, info):
        pts = info.get_buffer().pts
        found = self.drawn.pop(pts - ENCODER_START + self.first if pts >= ENCODER_START else pts, None)
        if found is not None:
            self.server.frames += 1
            if self.server.send_log:
                self.server.send_log.write(f"{found[0]} {found[1]} {time.monotonic_ns()}\n")
        return Gst.PadProbeReturn.OK


class Factory(GstRtspServer.RTSPMediaFactory):
    """Makes the pipeline of a connection from the options at that moment."""

    def __init__(self, server):
        super().__init__()
        self.server = server
        self.set_shared(not server.options.file)
        self.connect("media-configure", self.configure)

    def do_gen_key(self, url):
        # A changed stream becomes a new medium, so that viewers of the old one keep it.
        return f"{url.abspath} {self.server.generation}"

    def do_create_element(self, url):
        server, live = self.server, self.server.live
        if server.options.file:
            demuxer = "matroskademux" if server.options.file.endswith(".mkv") else "qtdemux"
            head = f'filesrc location="{server.options.file}" ! {demuxer}'
        else:
            width, height = live["size"].split("x")
            rate = fractions.Fraction(str(live["fps"]))
            extra = f"bframes={live['bframes']} " if int(live["bframes"]) else ""
            extra += "intra-refresh=true " if server.options.refresh else ""
            encoder = ENCODERS[live["codec"]].format(kbps=live["kbps"], gop=live["gop"], extra=extra)
            if int(live["bframes"]):
                encoder = encoder.replace("tune=zerolatency", "rc-lookahead=0 sync-lookahead=0")
            head = (
                f"appsrc name=live is-live=true format=time block=false max-buffers=4 leaky-type=downstream "
                f"caps=video/x-raw,format=I420,width={width},height={height},"
                f"framerate={rate.numerator}/{rate.denominator},"
                f"colorimetry=bt601 ! {encoder}")
        payloaders = MULTIPLEXERS if server.options.mux == "ts" else PAYLOADERS
        return Gst.parse_launch(f"( {head} ! {payloaders[live['codec']]} )")

    def configure(self, _, media):
        server, element = self.server, media.get_element()
        if server.options.file:
            element.get_by_name("pay0").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, server.hold)
        else:
            live = server.playing = Live(server, element)
            media.connect("unprepared", lambda _: setattr(live, "is_ended", True))


class Server:
    def __init__(self, options):
        self.options = options
        names = ("codec", "size", "fps", "gop", "kbps", "bframes")
        self.live = {name: getattr(options, name) for name in names}
        if options.file:
            self.live["codec"] = codec_of(options.file)
        self.playing = None
        self.generation = self.frames = self.key_requests = 0
        self.schedule = timecode.Schedule(float(fractions.Fraction(options.fps)))
        self.going = threading.Event()
        self.going.set()
        self.send_log = open(options.send_log, "w", buffering=1) if options.send_log else None
        self.requests = {}
        self.reporters, self.watched = {}, []
        self.server = GstRtspServer.RTSPServer.new()
        self.server.set_address("::" if options.isolated else "127.0.0.1")
        self.server.set_service(str(options.port))
        self.factory = Factory(self)
        self.factory.set_protocols(PROTOCOLS[options.transport])
        if options.retransmission:
            self.factory.set_retransmission_time(options.retransmission * Gst.MSECOND)
        if options.feedback:
            self.factory.set_profiles(GstRtsp.RTSPProfile.AVP | GstRtsp.RTSPProfile.AVPF)
        if options.transport == "multicast":
            pool = GstRtspServer.RTSPAddressPool.new()
            pool.add_range("239.255.77.1", "239.255.77.50", 15000, 19999, 1)
            # Different ports, because an IPv6 socket also occupies the IPv4 port.
            pool.add_range("ff15::77:1", "ff15::77:50", 20000, 25000, 1)
            self.factory.set_address_pool(pool)
        self.ready = {"codec": self.live["codec"], "user": options.user, "password": options.password}
        self.protect()
        self.server.get_mount_points().add_factory(options.path, self.factory)
        self.server.connect("client-connected", self.connected)
        pool = self.server.get_session_pool()
        GLib.timeout_add_seconds(1, lambda: pool.cleanup() >= 0)

    @property
    def is_stopped(self):
        return not self.going.is_set()

    def protect(self):
        options = self.options
        if options.auth == "none" and not options.tls:
            return
        auth = GstRtspServer.RTSPAuth.new()
        token = GstRtspServer.RTSPToken.new()
        token.set_string("media.factory.role", "viewer")
        permissions = GstRtspServer.RTSPPermissions.new()
        for permission in ("media.factory.access", "media.factory.construct"):
            permissions.add_permission_for_role("viewer", permission, True)
        self.factory.set_permissions(permissions)
        if options.auth == "basic":
            auth.add_basic(GstRtspServer.RTSPAuth.make_basic(options.user, options.password), token)
        elif options.auth == "digest":
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
            auth.add_digest(options.user, options.password, token)
        else:
            auth.set_default_token(token)
        if options.tls:
            authority, certificate, key = peer.make_certificates(options.certificate_name)
            auth.set_tls_certificate(Gio.TlsCertificate.new_from_files(certificate, key))
            self.ready["ca"] = authority
        self.server.set_auth(auth)

    def connected(self, _, client):
        for method in ("options", "describe", "setup", "play", "pause", "teardown", "get-parameter", "set-parameter"):
            client.connect(f"{method}-request", self.count, method)
        if self.options.no_delay:
            client.get_connection().get_write_socket().set_option(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.options.transport == "multicast":
            if not self.options.isolated:
                client.connect("send-message", lambda *_: share_ports())
            client.connect("play-request", self.watch_reports)
        client.connect("new-session", lambda _, session: session.set_timeout(self.options.session_timeout))
        self.requests["connections"] = self.requests.get("connections", 0) + 1

    def watch_reports(self, client, context):
        """Counts the RTCP packets that receivers send about a stream, by SSRC."""

        def note(_, source):
            name = f"{source.props.ssrc:08x}"
            self.reporters[name] = self.reporters.get(name, 0) + 1

        session = context.media.get_stream(0).get_rtpsession()
        if session not in self.watched:
            self.watched.append(session)
            session.connect("on-ssrc-active", note)

    def count(self, client, context, method):
        self.requests[method] = self.requests.get(method, 0) + 1

    def hold(self, *_):
        self.going.wait()
        self.frames += 1
        return Gst.PadProbeReturn.OK

    def run(self):
        if self.server.attach(None) == 0:
            peer.fail(f"cannot listen on port {self.options.port}")
        port = self.server.get_bound_port()
        scheme = "rtsps" if self.options.tls else "rtsp"
        handlers = {"stop": self.stop, "resume": self.resume}
        for name in ("kill", "expire", "set", "key", "report"):
            handlers[name] = on_main(getattr(self, name))
        url = f"{scheme}://127.0.0.1:{port}{self.options.path}"
        if self.options.isolated:
            url = f"rtsp://{namespaces.OWN_ADDRESSES[0].split('/')[0]}:{port}{self.options.path}"
        peer.serve(self.options, handlers, {"port": port, "url": url, **self.ready})
        GLib.MainLoop().run()

    # Commands.

    def kill(self, _):
        closed = self.server.client_filter(lambda *_: GstRtspServer.RTSPFilterResult.REF)
        for client in closed:
            client.close()
        return {"closed": len(closed)}

    def expire(self, _):
        sessions = self.server.get_session_pool()
        before = sessions.get_n_sessions()
        sessions.filter(lambda *_: GstRtspServer.RTSPFilterResult.REMOVE)
        return {"expired": before}

    def stop(self, _):
        self.going.clear()

    def resume(self, _):
        self.going.set()

    def set(self, message):
        changes = {name: value for name, value in message.items() if name in self.live}
        if self.options.file:
            raise ValueError("a file is sent as it is")
        if changes.get("codec", "h264") not in ENCODERS:
            raise ValueError(f"no codec {changes['codec']!r}")
        self.live.update(changes)
        if "fps" in changes:
            self.schedule = timecode.Schedule(float(fractions.Fraction(str(changes["fps"]))))
        self.generation += 1
        return {"live": self.live}

    def key(self, _):
        if self.playing is None:
            raise ValueError("nothing live plays")
        self.playing.request_key()

    def report(self, _):
        clients = self.server.client_filter(lambda *_: GstRtspServer.RTSPFilterResult.REF)
        return {
            "clients": len(clients), "sessions": self.server.get_session_pool().get_n_sessions(), "frames": self.frames,
            "requests": self.requests, "reporters": self.reporters, "keyRequests": self.key_requests,
        }


def on_main(handler):
    """Runs a function in the main loop's thread, the only one that may use GstRtspServer's objects."""

    def run(message):
        done, results = threading.Event(), []

        def call():
            try:
                results.append(handler(message))
            except Exception as error:
                results.append(error)
            done.set()
            return False

        GLib.idle_add(call)
        if not done.wait(5):
            raise TimeoutError("the server's main loop does not answer")
        if isinstance(results[0], Exception):
            raise results[0]
        return results[0]

    return run


def share_ports():
    """Lets clients on this host receive a multicast group: by default, the server binds the ports exclusively and
    disables loopback."""
    for number in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(number))) as each:
                if each.type == socket.SOCK_DGRAM:
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    each.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
                    # A TTL of 0 keeps the packets on this host.
                    each.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
        except OSError:
            pass  # No socket, or closed meanwhile.


def codec_of(path):
    """Returns the codec of a file's first video stream."""
    found = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=codec_name", "-of", "csv=p=0",
         path],
        capture_output=True, text=True)
    codec = {"hevc": "h265"}.get(found.stdout.strip(), found.stdout.strip())
    if codec not in PAYLOADERS:
        peer.fail(f"{path}: none of {', '.join(PAYLOADERS)} is in it: {codec} {found.stderr.strip()}")
    return codec


if __name__ == "__main__":
    options = read_options()
    clients = namespaces.isolate(options.mtu) if options.isolated else None
    Gst.init(None)
    server = Server(options)
    server.ready["clients"] = clients
    server.run()
