#!/usr/bin/env python3
"""Many light WHEP viewers in one process: GStreamer's webrtcbin, which receives and assembles pictures, but does not
decode them. Prints one JSON object.

Usage: whep-crowd.py URL [--viewers N] [--seconds S] [--token TOKEN]

All viewers are created beforehand and post their offers at once. `key` is the time in seconds from the POST to the
first whole key frame, for each viewer that received one.
"""
import argparse
import http.client
import json
import signal
import threading
import time
import urllib.parse

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC

CAPS = ("application/x-rtp,media=video,encoding-name={codec},clock-rate=90000,payload=96,"
        "rtcp-fb-nack=(boolean)true,rtcp-fb-nack-pli=(boolean)true")
FORMAT = {"H264": ",packetization-mode=(string)1,profile-level-id=(string)42e01f", "VP8": ""}
DEPAY = {"H264": "rtph264depay ! video/x-h264,alignment=au,stream-format=byte-stream", "VP8": "rtpvp8depay"}


class Viewer:
    def __init__(self, options):
        self.options, self.key, self.status, self.place, self.error = options, None, None, None, None
        self.sink, self.replies = None, []
        self.pipeline, self.web = Gst.Pipeline(), Gst.ElementFactory.make("webrtcbin")
        self.web.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.web.set_property("latency", 0)
        self.pipeline.add(self.web)
        self.web.connect("pad-added", self.flows)
        caps = Gst.Caps.from_string(CAPS.format(codec=options.codec) + FORMAT[options.codec])
        self.web.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, caps)
        self.pipeline.set_state(Gst.State.PLAYING)
        offer = self.ask("create-offer", None).get_value("offer")
        self.ask("set-local-description", offer)
        end = time.monotonic() + 5
        while (self.web.get_property("ice-gathering-state") != GstWebRTC.WebRTCICEGatheringState.COMPLETE
               and time.monotonic() < end):
            time.sleep(0.005)
        self.offer = self.web.get_property("local-description").sdp.as_text()

    def ask(self, name, argument):
        promise = Gst.Promise.new()
        self.web.emit(name, argument, promise)
        promise.wait()
        # A reply owns its contents, so keep it.
        reply = promise.get_reply()
        self.replies.append((promise, reply))
        return reply

    def flows(self, _, pad):
        """Receives a new track: depacketizes its pictures and drops them."""
        tail = Gst.parse_bin_from_description(
            f"{DEPAY[self.options.codec]} ! fakesink name=sink sync=false async=false", True)
        self.sink = tail.get_by_name("sink")
        self.sink.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self.came)
        self.pipeline.add(tail)
        tail.sync_state_with_parent()
        pad.link(tail.get_static_pad("sink"))

    def came(self, _, info):
        if info.get_buffer().has_flags(Gst.BufferFlags.DELTA_UNIT):
            return Gst.PadProbeReturn.OK
        self.key = time.monotonic() - self.begun
        return Gst.PadProbeReturn.REMOVE

    def request(self, method, path, body=None, headers=()):
        parts = urllib.parse.urlsplit(self.options.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        bearer = {"authorization": f"Bearer {self.options.token}"} if self.options.token else {}
        connection.request(method, path, body, {**bearer, **dict(headers)})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def join(self, gate):
        gate.wait()
        self.begun = time.monotonic()
        try:
            path = urllib.parse.urlsplit(self.options.url).path
            self.status, headers, text = self.request(
                "POST", path, self.offer, {"content-type": "application/sdp"}.items())
            self.answered = time.monotonic() - self.begun
            if self.status != 201:
                return
            self.place = headers["location"]
            _, message = GstSdp.SDPMessage.new_from_text(text)
            self.ask("set-remote-description",
                     GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message))
        except OSError as error:
            self.error = repr(error)

    def leave(self):
        if self.place:
            try:
                self.request("DELETE", self.place)
            except OSError:
                pass
        rendered = self.sink.get_property("stats").get_value("rendered") if self.sink else 0
        self.pipeline.set_state(Gst.State.NULL)
        return rendered


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--viewers", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=5,
                        help="the duration from the moment when they join; SIGTERM ends it earlier")
    parser.add_argument("--codec", choices=sorted(DEPAY), default="H264")
    parser.add_argument("--token")
    options = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    ends = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ends.set())
    Gst.init(None)
    viewers = [Viewer(options) for _ in range(options.viewers)]
    gate = threading.Barrier(options.viewers)
    joiners = [threading.Thread(target=viewer.join, args=(gate,)) for viewer in viewers]
    for thread in joiners:
        thread.start()
    ends.wait(options.seconds)
    for thread in joiners:
        thread.join()
    keys = sorted(viewer.key for viewer in viewers if viewer.key is not None)
    statuses = [viewer.status for viewer in viewers]
    pictures = [viewer.leave() for viewer in viewers]
    print(json.dumps({
        "viewers": len(viewers), "statuses": {str(status): statuses.count(status) for status in set(statuses)},
        "key": [round(key, 3) for key in keys],
        "answered": sorted(round(viewer.answered, 3) for viewer in viewers if viewer.place),
        "within_2_s": sum(key <= 2 for key in keys), "pictures": {"least": min(pictures), "most": max(pictures)},
        "errors": [viewer.error for viewer in viewers if viewer.error][:3]}))


main()
