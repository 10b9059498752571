"""Compares the H.264 slices that aiortc received with those of a file."""

import re
import zlib

from aiortc import jitterbuffer


def split(data):
    """Returns the CRCs of the slices in bytes with start codes. No unit contains a start code."""
    units = (each.rstrip(b"\0") for each in re.split(b"\0\0\1", data))
    return [zlib.crc32(each) for each in units if each and each[0] & 31 in (1, 5)]


class Slices:
    """Counts the received slices, and those that are not in the file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.known = set(split(file.read()))
        self.count = self.strange = 0
        add = jitterbuffer.JitterBuffer.add

        def added(buffer, packet):
            result = add(buffer, packet)
            if result[1] is not None:
                for each in split(result[1].data):
                    self.count += 1
                    self.strange += each not in self.known
            return result

        jitterbuffer.JitterBuffer.add = added

    def report(self, message):
        """Returns the counts since the last report with `forget`."""
        found = {"slices": self.count, "strange": self.strange}
        if message.get("forget"):
            self.count = self.strange = 0
        return found
