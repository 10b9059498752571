"""The content of a viewer's pictures: a frame number of `pattern:timecode`, black, words on grey, or none of these."""

import numpy

import timecode


def kind(frame):
    """Returns the kind of a picture, and its frame number if it has one."""
    plane = frame.planes[0]
    rows = numpy.frombuffer(plane, numpy.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]
    if rows.max() < 32:
        return "black", None
    if numpy.median(rows) < 60 and rows.max() > 180:
        return "text", None
    found = timecode.read(rows.tobytes(), frame.width, frame.height)
    return ("number", found[0]) if found else ("other", None)


class Pictures:
    """Counts pictures, and sequences of pictures of one kind."""

    def __init__(self):
        self.total, self.run, self.last = 0, 0, ""

    def add(self, frame):
        shown, number = kind(frame)
        self.run = self.run + 1 if shown == self.last else 1
        self.total, self.last = self.total + 1, shown
        return number

    def report(self):
        return {"pictures": self.total, "shown": self.last, "run": self.run}
