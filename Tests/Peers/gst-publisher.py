#!/usr/bin/python3
"""A WHIP publisher like OBS, with GStreamer's webrtcbin: H.264 and Opus in one bundle, sendonly, an offer with all its
candidates, and DELETE at the end. Its pictures are those of `pattern:timecode`. See README.md.

Commands: publish posts the offer; leave sends DELETE; report returns the drawn numbers and the key-frame requests.
"""
import http.client
import threading
import time
import urllib.parse

import peer
import timecode

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstSdp", "1.0")
    gi.require_version("GstVideo", "1.0")
    gi.require_version("GstWebRTC", "1.0")
    from gi.repository import Gst, GstSdp, GstVideo, GstWebRTC
except (ImportError, ValueError) as missing:
    peer.fail(f"webrtcbin is missing: {missing}; apt-get install python3-gi gir1.2-gst-plugins-bad-1.0")

PIPELINE = (
    "webrtcbin name=web bundle-policy=max-bundle "
    "appsrc name=live is-live=true do-timestamp=true format=time block=false max-buffers=4 leaky-type=downstream "
    "caps=video/x-raw,format=I420,width={width},height={height},framerate={fps}/1,colorimetry=bt601 ! "
    # The x264 settings of OBS for WHIP: no B-frames, a key frame every 2 s, each with parameter sets.
    "x264enc name=encoder speed-preset=veryfast tune=zerolatency bitrate=2000 key-int-max={gop} bframes=0 threads=1 ! "
    "video/x-h264,profile={profile} ! h264parse ! "
    "rtph264pay config-interval=-1 aggregate-mode=zero-latency pt=96 ! "
    "application/x-rtp,media=video,encoding-name=H264,payload=96 ! web. "
    "audiotestsrc is-live=true wave=silence ! audioconvert ! opusenc ! rtpopuspay pt=97 ! "
    "application/x-rtp,media=audio,encoding-name=OPUS,payload=97 ! web.")


class Publisher:
    def __init__(self, options):
        self.options, self.number, self.key_requests, self.place, self.replies = options, 0, 0, None, []
        width, height = map(int, options.size.split("x"))
        self.pipeline = Gst.parse_launch(PIPELINE.format(
            width=width, height=height, fps=options.fps, gop=2 * options.fps, profile=options.profile))
        self.web = self.pipeline.get_by_name("web")
        self.source = self.pipeline.get_by_name("live")
        for index in range(2):
            self.web.emit("get-transceiver", index).set_property(
                "direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY)
        self.pipeline.get_by_name("encoder").get_static_pad("src").add_probe(
            Gst.PadProbeType.EVENT_UPSTREAM, self.asked)
        self.pipeline.set_state(Gst.State.PLAYING)
        threading.Thread(target=self.draw, args=(width, height), daemon=True).start()

    def draw(self, width, height):
        begun = time.monotonic()
        while True:
            time.sleep(max(0, begun + self.number / self.options.fps - time.monotonic()))
            picture = timecode.draw(width, height, self.number, time.monotonic_ns(), self.options.fps)
            self.source.emit("push-buffer", Gst.Buffer.new_wrapped(picture))
            self.number += 1

    def asked(self, _, info):
        if GstVideo.video_event_is_force_key_unit(info.get_event()):
            self.key_requests += 1
        return Gst.PadProbeReturn.OK

    def ask(self, name, argument):
        promise = Gst.Promise.new()
        self.web.emit(name, argument, promise)
        promise.wait()
        # A reply owns its contents, so keep it.
        reply = promise.get_reply()
        self.replies.append((promise, reply))
        return reply

    def request(self, method, url, body=None, headers=None):
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        bearer = {"authorization": f"Bearer {self.options.token}"} if self.options.token else {}
        connection.request(method, parts.path, body, {**bearer, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def publish(self, message):
        # The caps of the tracks are known after the first pictures were encoded.
        end = time.monotonic() + 20
        while time.monotonic() < end and not all(
                pad.get_current_caps() for pad in self.web.sinkpads):
            time.sleep(0.01)
        self.ask("set-local-description", self.ask("create-offer", None).get_value("offer"))
        while (self.web.get_property("ice-gathering-state") != GstWebRTC.WebRTCICEGatheringState.COMPLETE
               and time.monotonic() < end):
            time.sleep(0.01)
        offer = self.web.get_property("local-description").sdp.as_text()
        url = message["url"]
        status, headers, text = self.request("POST", url, offer, {"content-type": "application/sdp"})
        if status == 201:
            self.place = urllib.parse.urljoin(url, headers["location"])
            _, answer = GstSdp.SDPMessage.new_from_text(text)
            self.ask("set-remote-description",
                     GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, answer))
        return {"status": status, "offer": offer, "answer": text}

    def leave(self, _):
        status = self.request("DELETE", self.place)[0]
        self.pipeline.set_state(Gst.State.NULL)
        return {"status": status}

    def report(self, _):
        return {"drawn": self.number, "keyRequests": self.key_requests,
                "ice": self.web.get_property("ice-connection-state").value_nick,
                "state": self.web.get_property("connection-state").value_nick}


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--token", help="the token for the server")
    parser.add_argument("--size", default="640x480")
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--profile", default="baseline", help="the H.264 profile, as x264enc calls it")
    options = parser.parse_args()
    Gst.init(None)
    publisher = Publisher(options)
    peer.serve(options, {"publish": publisher.publish, "leave": publisher.leave, "report": publisher.report}, {})
    threading.Event().wait()


main()
