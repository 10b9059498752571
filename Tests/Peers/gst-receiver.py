#!/usr/bin/python3
"""gst-rtsp-server with record enabled: receives one stream by ANNOUNCE and RECORD, decodes it, and counts its pictures.

See README.md.
"""

import hashlib
import sys

import peer
from receiver import Receiver

DECODERS = {
    "h264": "rtph264depay name=depay0 ! h264parse ! avdec_h264",
    "hevc": "rtph265depay name=depay0 ! h265parse ! avdec_h265",
    "vp8": "rtpvp8depay name=depay0 ! vp8dec",
    "vp9": "rtpvp9depay name=depay0 ! vp9dec",
    "mjpeg": "rtpjpegdepay name=depay0 ! avdec_mjpeg",
}


def serve(codec, port, certificate, key):
    """Runs the server in a separate process, so that it can be killed. Prints the PTS and the MD5 sum of each picture.
    """
    import gi

    for name in ("Gst", "GstRtsp", "GstRtspServer"):
        gi.require_version(name, "1.0")
    from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer

    Gst.init(None)

    def came(_, info):
        buffer = info.get_buffer()
        found, memory = buffer.map(Gst.MapFlags.READ)
        if found:
            print(buffer.pts, hashlib.md5(memory.data).hexdigest(), flush=True)
            buffer.unmap(memory)
        return Gst.PadProbeReturn.OK

    def configure(_, media):
        sink = media.get_element().get_by_name("pictures")
        sink.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, came)

    server = GstRtspServer.RTSPServer.new()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory.new()
    factory.set_launch(f"( {DECODERS[codec]} ! fakesink name=pictures sync=false )")
    factory.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)
    factory.connect("media-configure", configure)
    if certificate:
        auth = GstRtspServer.RTSPAuth.new()
        token = GstRtspServer.RTSPToken.new()
        token.set_string("media.factory.role", "camera")
        permissions = GstRtspServer.RTSPPermissions.new()
        for permission in ("media.factory.access", "media.factory.construct"):
            permissions.add_permission_for_role("camera", permission, True)
        factory.set_permissions(permissions)
        auth.set_default_token(token)
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.NONE)
        auth.set_tls_certificate(Gio.TlsCertificate.new_from_files(certificate, key))
        server.set_auth(auth)
    server.get_mount_points().add_factory("/live", factory)
    if server.attach(None) == 0:
        sys.exit(f"cannot listen on port {port}")
    GLib.MainLoop().run()


def picture(line):
    pts, digest = line.split()
    return [int(pts), digest]


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--codec", choices=sorted(DECODERS), default="h264")
    parser.add_argument("--tls", action="store_true", help="rtsps with a certificate from a new authority")
    options = parser.parse_args()
    port, ready = peer.free_port(), {}
    certificate = key = ""
    if options.tls:
        ready["ca"], certificate, key = peer.make_certificates()
    command = [sys.executable, "-B", __file__, "serve", options.codec, str(port), certificate, key]
    scheme = "rtsps" if options.tls else "rtsp"
    Receiver(command, port, "tcp", picture).serve(options, {"url": f"{scheme}://127.0.0.1:{port}/live", **ready})


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
    else:
        main()
