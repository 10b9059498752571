"""The time of day of each packet of one or more streams according to GStreamer's rtspsrc, which takes it from RTCP.

Writes a line of JSON for each stream, which maps the digest of a packet's bytes to its time in seconds since 1970.
"""
import argparse
import hashlib
import json
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

NTP_TO_UNIX = 2_208_988_800


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("urls", nargs="+")
    options = parser.parse_args()
    Gst.init(None)
    streams = []
    for url in options.urls:
        pipeline = Gst.parse_launch(
            "rtspsrc name=source protocols=tcp latency=200 add-reference-timestamp-meta=true ! rtph264depay ! "
            "video/x-h264,stream-format=byte-stream,alignment=au ! appsink name=sink sync=false")
        pipeline.get_by_name("source").set_property("location", url)
        pipeline.set_state(Gst.State.PLAYING)
        streams.append((pipeline, pipeline.get_by_name("sink"), {}))
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        for _, sink, times in streams:
            sample = sink.emit("try-pull-sample", Gst.SECOND // 50)
            if not sample:
                continue
            buffer = sample.get_buffer()
            meta = buffer.get_reference_timestamp_meta(Gst.Caps.from_string("timestamp/x-ntp"))
            if meta:
                digest = hashlib.md5(buffer.extract_dup(0, buffer.get_size())).hexdigest()
                times[digest] = meta.timestamp / Gst.SECOND - NTP_TO_UNIX
    for pipeline, _, times in streams:
        pipeline.set_state(Gst.State.NULL)
        print(json.dumps(times))
    sys.stdout.flush()


main()
