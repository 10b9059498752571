"""Video sources and sinks for Inlet in Python.

A plug-in is a program that Inlet runs as a sandboxed child process. The program subclasses ``Source`` or ``Sink`` and
calls ``run``; a manifest ``NAME.inlet.json`` in the same folder names the program in ``command``. This module speaks
version 1 of the protocol in ``inlet_plugin_protocol.h``, and needs only Python's standard library. With numpy
installed, pictures are arrays.

    import inlet_plugin as inlet

    class Grey(inlet.Source):
        def open(self, options):
            self.due = inlet.now()
            return inlet.Stream(pixel_format="gray", width=640, height=480, time_base=(1, 25), frame_rate=25)

        def next(self, deadline):
            if not self.wait(until=self.due):
                return None
            slot = self.slot("gray", 640, 480)
            slot.arrays[0][:] = self.sequence % 256
            self.due += 40_000_000
            return inlet.Frame(slot, pts=self.sequence)

    inlet.run(Grey)

Times are in nanoseconds of ``time.monotonic_ns``; ``now`` returns the current time. ``None`` means an unknown time.
"""

from __future__ import annotations

import enum
import errno
import fractions
import io
import mmap
import os
import select
import socket
import stat
import struct
import sys
import threading
import time
import traceback
import typing
from dataclasses import dataclass

# The threads of numpy's linear algebra would need more memory than a plug-in may use.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

__version__ = "1.0.0"
__all__ = [
    "Cancelled", "Code", "Color", "Demand", "EndOfStream", "Error", "Flag", "Frame", "Level", "Pacing", "Packet",
    "Sink", "Slot", "Source", "Stream", "Wants", "now", "run",
]

MAJOR = 1
MINOR = 0
NO_TIME = -(1 << 63)
NO_DEADLINE = (1 << 63) - 1
CHILD_SOCKET = 3
LONGEST_MESSAGE = 131072
SLOT_ALIGNMENT = 4096
ROW_ALIGNMENT = 64
LARGEST_SIDE = 16384
# The time that an answer waits for a host that does not read.
ANSWER_TIME = 5_000_000_000
LINES_A_SECOND = 100

now = time.monotonic_ns


class Code(enum.IntEnum):
    """The kinds of errors. They determine whether Inlet tries again."""

    INVALID_CONFIGURATION = -1
    NOT_FOUND = -2
    PERMISSION_DENIED = -3
    AUTHENTICATION_FAILED = -4
    BUSY = -5
    UNSUPPORTED = -6
    NO_BANDWIDTH = -7
    CONNECTION_REFUSED = -8
    SERVER_UNAVAILABLE = -9
    DISCONNECTED = -10
    TIMED_OUT = -11
    INPUT_OUTPUT = -12
    MALFORMED_DATA = -13
    RESOURCE_EXHAUSTED = -14
    PLUGIN = -15
    INTERNAL = -16
    CANCELLED = -17


class Level(enum.IntEnum):
    """The levels of log lines."""

    DEBUG = 0
    INFO = 1
    WARNING = 2
    ERROR = 3


class Pacing(enum.IntEnum):
    """The pace at which pictures are produced."""

    LIVE = 0
    """The outside world produces the pictures, and a picture that is not taken is lost. Example: a camera."""
    REALTIME = 1
    """The source holds each picture back until it is due."""
    NONE = 2
    """The source produces pictures as fast as they are taken."""


class Flag(enum.IntFlag):
    """Special properties of a picture or packet."""

    KEY = 1
    """It can be decoded without anything before it."""
    CORRUPT = 2
    """The data was damaged; the picture may show it."""
    DISCONTINUITY = 4
    """The timeline restarts here: PTS before and after are unrelated."""
    LOSS = 8
    """For a packet: packets before it were lost."""


class Error(Exception):
    """An error with a code, and a sentence that states what failed and what to try, without passwords.

    ``retry_after`` is the time to wait before the next attempt, in nanoseconds; 0 lets Inlet decide.
    """

    def __init__(self, code: Code, message: str, native_code: int = 0, retry_after: int = 0) -> None:
        super().__init__(message)
        self.code = Code(code)
        self.message = message
        self.native_code = native_code
        self.retry_after = retry_after


class Cancelled(Error):
    """The host has cancelled the operation. Raised by ``wait`` and ``slot``; do not catch it."""

    def __init__(self) -> None:
        super().__init__(Code.CANCELLED, "The operation was cancelled.")


class EndOfStream(Exception):
    """Raised by ``Source.next`` at the end of the stream, and by ``Sink.consume`` if the sink wants no more items."""


class _HostGone(Exception):
    """The connection to Inlet is closed, or Inlet has requested the exit."""


class Color(typing.NamedTuple):
    """The interpretation of samples as colour.

    The first three are codes of ITU-T H.273; 2 means unknown. Range: 0 unknown, 1 limited, 2 full.
    """

    primaries: int = 2
    transfer: int = 2
    matrix: int = 2
    range: int = 0


Fraction = typing.Union[fractions.Fraction, int, float, "tuple[int, int]", None]


@dataclass
class Stream:
    """A source's description of itself. It states what to expect: every picture carries its own size and format."""

    pixel_format: str = ""
    """FFmpeg's name, such as ``nv12``; empty for a source of packets."""
    width: int = 0
    height: int = 0
    codec: str = ""
    """FFmpeg's name, such as ``h264``, for a source of packets."""
    pacing: Pacing = Pacing.LIVE
    time_base: Fraction = (1, 1_000_000_000)
    """The duration of a tick of PTS and DTS in seconds."""
    frame_rate: Fraction = None
    sample_aspect_ratio: Fraction = None
    color: Color = Color()
    rotation: int = 0
    """The clockwise rotation, in degrees, that shows the pictures upright: 0, 90, 180 or 270."""
    timestamp_bits: int = 0
    """The number of bits of PTS, after which they wrap around to zero; 0 if unknown."""
    reorder_depth: int = 0
    """The maximum number of pictures that are decoded before a picture that is shown earlier; 0 if unknown."""
    parameter_sets: bytes = b""
    """The parameter sets of the codec, as the container has them."""
    duration: int = 0
    """The duration of the stream in ticks; 0 if unknown or endless."""


@dataclass
class Frame:
    """A picture.

    ``picture`` is either a ``Slot`` that ``Source.slot`` returned, which is not copied, or an array, or a list of
    arrays or bytes-like objects, one per plane, which are copied. An array of one plane has the shape (height, width[,
    channels]). A picture in yuv420p or nv12 of even size may also be one array (height * 3 / 2, width), as in OpenCV.

    In ``Sink.consume``, ``picture`` is a ``Slot`` that may be read until ``consume`` returns.
    """

    picture: typing.Any
    pixel_format: str = ""
    """FFmpeg's name. May be omitted for a slot."""
    width: int = 0
    """May be omitted for slots and arrays, like ``height``."""
    height: int = 0
    pts: int | None = None
    """The presentation time in ticks. None if unknown: the time of arrival is then used."""
    duration: int = 0
    """The presentation duration in ticks; 0 if unknown."""
    sequence: int | None = None
    """The number of this picture, counted from 0; a gap counts as a loss. None numbers pictures consecutively."""
    capture_time: int | None = None
    """The time at which the device exposed or read out the picture."""
    wall_clock: int | None = None
    """The same time since 1970-01-01 00:00 UTC, if the source knows it."""
    flags: Flag = Flag(0)
    color: Color = Color()
    rotation: int = 0
    sample_aspect_ratio: Fraction = None


@dataclass
class Packet:
    """A complete access unit of compressed video. Fields without a description are as in ``Frame``."""

    data: typing.Any
    """A bytes-like object. In ``Sink.consume`` it may be read until ``consume`` returns."""
    pts: int | None = None
    dts: int | None = None
    duration: int = 0
    sequence: int | None = None
    capture_time: int | None = None
    wall_clock: int | None = None
    flags: Flag = Flag(0)
    parameter_sets: bytes = b""
    """The parameter sets that apply from this packet on; empty if they have not changed."""


class Demand(typing.NamedTuple):
    """The combined demand of all sinks. This is a hint: Inlet drops or scales down pictures beyond it."""

    wants_pictures: bool = True
    wants_packets: bool = False
    key_frame_requests: int = 0
    """The number of key-frame requests since the source was opened. It grows at most once a second."""
    frame_rate: fractions.Fraction | None = None
    """The maximum useful frame rate; None for all frames."""
    width: int = 0
    """The maximum useful size; 0 for the source's own size."""
    height: int = 0


@dataclass
class Wants:
    """The requirements of a sink. The default is every picture, upright, in yuv420p."""

    packets: bool = False
    """True for the source's packets, unchanged."""
    width: int = 0
    """The maximum size; larger pictures are scaled down. 0 for any size."""
    height: int = 0
    frame_rate: Fraction = None
    """The maximum frame rate; None for any rate."""
    keeps_rotation: bool = False
    """True for pictures as they are stored, with their rotation; False for upright pictures."""


class _Layout:
    """A struct of the protocol: the names of its fields, each with its ``struct`` format code."""

    def __init__(self, name: str, fields: str) -> None:
        self.name, self.offsets, self._fields, text = name, {}, [], "="
        for field in fields.split():
            key, code = field.split(":")
            self.offsets[key] = struct.calcsize(text)
            text += code
            count = len(struct.Struct("=" + code).unpack(bytes(struct.calcsize("=" + code))))
            self._fields.append((key, count))
        self._struct = struct.Struct(text)
        self.size = self._struct.size

    def pack(self, **values: typing.Any) -> bytes:
        flat: list[typing.Any] = []
        for key, count in self._fields:
            value = values.pop(key, b"" if key in _BYTES else 0)
            flat.extend([value] if count == 1 else value or [0] * count)
        if values:
            raise TypeError(f"{self.name} has no {', '.join(values)}")
        return self._struct.pack(*flat)

    def unpack(self, data: bytes) -> dict[str, typing.Any]:
        if len(data) < self.size:
            raise Error(Code.PLUGIN, f"Inlet sent a {self.name} of {len(data)} bytes, which is too short.")
        flat, values, at = self._struct.unpack_from(data), {}, 0
        for key, count in self._fields:
            values[key] = flat[at] if count == 1 else flat[at:at + count]
            at += count
        return values


_BYTES = frozenset(("pixel_format", "codec", "message", "text", "wants", "demand"))
_MESSAGE = _Layout("inlet_message", "type:I reserved:I deadline:q")
_CREATE = _Layout("inlet_create", "type:I kind:I major:H minor:H option_count:I")
_NEXT = _Layout("inlet_next", "type:I reserved:I deadline:q free_slots:Q demand:32s")
_SEGMENT = _Layout("inlet_segment", "type:I number:I slot_length:Q slot_count:I reserved:I")
_ITEM = _Layout(
    "inlet_wire_item",
    "type:I is_packet:I flags:I segment:I slot:I width:I height:I rotation:I sequence:Q pts:q dts:q duration:q "
    "capture_time:q wall_clock:q length:Q pixel_format:24s sample_aspect_ratio:2i color:4B plane_count:I "
    "planes:QqQqQqQq parameter_sets_length:I reserved:I deadline:q")
_STREAM = _Layout(
    "inlet_wire_stream",
    "type:I pacing:I width:I height:I pixel_format:24s codec:24s time_base:2i frame_rate:2i sample_aspect_ratio:2i "
    "color:4B rotation:I timestamp_bits:I reorder_depth:I duration:q parameter_sets_length:I can_pause:I deadline:q")
_RESULT = _Layout(
    "inlet_wire_result", "type:I result:i native_code:i reserved:I retry_after:q message:496s wants:32s")
_NEED_SEGMENT = _Layout("inlet_need_segment", "type:I reserved:I slot_length:Q")
_NOTE = _Layout("inlet_note", "type:I level:i count:Q text:496s")
_DEMAND = _Layout(
    "inlet_demand",
    "size:I wants_pictures:I wants_packets:I key_frame_requests:I frame_rate:2i width:I height:I")
_WANTS = _Layout(
    "inlet_sink_wants", "size:I packets:I width:I height:I frame_rate:2i keeps_rotation:I reserved:I")
LAYOUTS = (_MESSAGE, _CREATE, _NEXT, _SEGMENT, _ITEM, _STREAM, _RESULT, _NEED_SEGMENT, _NOTE, _DEMAND, _WANTS)


class _Type(enum.IntEnum):
    CREATE = 1
    OPEN = 2
    NEXT = 3
    PAUSE = 4
    RESUME = 5
    CLOSE = 6
    SEGMENT = 7
    START = 8
    CONSUME = 9
    RESULT = 101
    OPENED = 102
    ITEM = 103
    NEED_SEGMENT = 104
    PROGRESS = 105
    DROP = 106
    INTERRUPTION = 107
    LOG = 108
    KEY_FRAME = 109


_OK, _END, _AGAIN = 0, 1, 2
_SOURCE, _SINK = 1, 2


class _Plane(typing.NamedTuple):
    """One plane of a pixel format. A column of the plane holds one element."""

    x_shift: int
    y_shift: int
    channels: int
    sample: str = "B"

    def rows(self, height: int) -> int:
        return -(-height >> self.y_shift)

    def columns(self, width: int) -> int:
        return -(-width >> self.x_shift)

    def row_bytes(self, width: int) -> int:
        return self.columns(width) * self.channels * struct.calcsize("=" + self.sample)


def _formats() -> dict[str, tuple[_Plane, ...]]:
    full = _Plane(0, 0, 1)
    table: dict[str, tuple[_Plane, ...]] = {
        "gray": (full,),
        "nv12": (full, _Plane(1, 1, 2)), "nv21": (full, _Plane(1, 1, 2)), "nv16": (full, _Plane(1, 0, 2)),
        "p010le": (_Plane(0, 0, 1, "H"), _Plane(1, 1, 2, "H")),
        # Two pixels share one element.
        "yuyv422": (_Plane(1, 0, 4),), "uyvy422": (_Plane(1, 0, 4),),
    }
    for name in ("rgb24", "bgr24"):
        table[name] = (_Plane(0, 0, 3),)
    for name in ("rgba", "bgra", "argb", "abgr", "rgb0", "bgr0"):
        table[name] = (_Plane(0, 0, 4),)
    for name, x_shift, y_shift in (("yuv420p", 1, 1), ("yuv422p", 1, 0), ("yuv444p", 0, 0)):
        table[name] = (full, _Plane(x_shift, y_shift, 1), _Plane(x_shift, y_shift, 1))
        table["yuvj" + name[3:]] = table[name]
        for bits in (10, 12, 16):
            table[f"{name}{bits}le"] = tuple(plane._replace(sample="H") for plane in table[name])
    for bits in (10, 12, 16):
        table[f"gray{bits}le"] = (_Plane(0, 0, 1, "H"),)
    for order in ("rggb", "bggr", "grbg", "gbrg"):
        table[f"bayer_{order}8"] = (full,)
        table[f"bayer_{order}16le"] = (_Plane(0, 0, 1, "H"),)
    return table


FORMATS = _formats()


class Slot:
    """Memory for one picture that the plug-in shares with Inlet."""

    def __init__(
        self, memory: memoryview, segment: int, number: int, pixel_format: str, width: int, height: int,
        planes: list[tuple[int, int]],
    ) -> None:
        self.pixel_format, self.width, self.height = pixel_format, width, height
        self._memory, self._segment, self._number = memory, segment, number
        self._planes = planes

    @property
    def planes(self) -> list[tuple[memoryview, int]]:
        """The bytes of each plane from its top row on, and its stride: the bytes from one row to the row below it."""
        found = []
        for (offset, stride), plane in zip(self._planes, FORMATS[self.pixel_format]):
            length = stride * (plane.rows(self.height) - 1) + plane.row_bytes(self.width)
            found.append((self._memory[offset:offset + length], stride))
        return found

    @property
    def arrays(self) -> list[numpy.ndarray]:
        """The planes as numpy arrays of the shared memory: (rows, columns) or (rows, columns, channels)."""
        if numpy is None:
            raise Error(Code.PLUGIN, "The plug-in needs numpy, which is missing: apt-get install python3-numpy.")
        found = []
        for (memory, stride), plane in zip(self.planes, FORMATS[self.pixel_format]):
            sample = struct.calcsize("=" + plane.sample)
            shape: tuple[int, ...] = (plane.rows(self.height), plane.columns(self.width), plane.channels)
            strides: tuple[int, ...] = (stride, plane.channels * sample, sample)
            if plane.channels == 1:
                shape, strides = shape[:2], strides[:2]
            dtype = "u1" if sample == 1 else "<u2"
            found.append(numpy.ndarray(shape, dtype, memory, strides=strides))
        return found

    def bytes(self) -> bytes:
        """A copy of the picture, plane by plane, without the padding of rows."""
        parts = []
        for (memory, stride), plane in zip(self.planes, FORMATS[self.pixel_format]):
            length = plane.row_bytes(self.width)
            parts.extend(memory[at:at + length] for at in range(0, stride * plane.rows(self.height), stride))
        return b"".join(parts)

    def _fill(self, picture: typing.Any) -> None:
        planes = FORMATS[self.pixel_format]
        if numpy is not None and isinstance(picture, numpy.ndarray):
            picture = _planes_of_array(picture, self.pixel_format, self.width, self.height)
        elif isinstance(picture, (bytes, bytearray, memoryview)):
            picture = [picture]
        if len(picture) != len(planes):
            raise Error(
                Code.PLUGIN, f"A picture in {self.pixel_format} has {len(planes)} planes; the plug-in gave "
                f"{len(picture)}.")
        for index, (source, plane) in enumerate(zip(picture, planes)):
            if numpy is not None and isinstance(source, numpy.ndarray):
                target = self.arrays[index]
                if source.shape != target.shape or source.dtype != target.dtype:
                    raise Error(
                        Code.PLUGIN, f"Plane {index} in {self.pixel_format} of {self.width}x{self.height} is an array "
                        f"of {target.shape} {target.dtype}; the plug-in gave {source.shape} {source.dtype}.")
                target[...] = source
                continue
            data, length = memoryview(source).cast("B"), plane.row_bytes(self.width)
            if len(data) != length * plane.rows(self.height):
                raise Error(
                    Code.PLUGIN, f"Plane {index} in {self.pixel_format} of {self.width}x{self.height} takes "
                    f"{length * plane.rows(self.height)} bytes; the plug-in gave {len(data)}.")
            target_bytes, stride = self.planes[index]
            for row in range(plane.rows(self.height)):
                target_bytes[row * stride:row * stride + length] = data[row * length:(row + 1) * length]


def _planes_of_array(picture: numpy.ndarray, pixel_format: str, width: int, height: int) -> list[numpy.ndarray]:
    """The planes in one array: the array itself, or the stacked planes of yuv420p or nv12."""
    if pixel_format in ("yuv420p", "nv12", "nv21") and picture.shape == (height * 3 // 2, width) and height % 2 == 0:
        luma, chroma = picture[:height], numpy.ascontiguousarray(picture[height:])
        if pixel_format != "yuv420p":
            return [luma, chroma.reshape(height // 2, width // 2, 2)]
        return [luma, *chroma.reshape(2, height // 2, width // 2)]
    return [picture]


def _size_of(frame: Frame) -> tuple[int, int]:
    if frame.width and frame.height:
        return frame.width, frame.height
    picture = frame.picture
    one = numpy is not None and isinstance(picture, numpy.ndarray)
    first = picture if one else picture[0]
    if not hasattr(first, "shape"):
        raise Error(Code.PLUGIN, "The plug-in gave a picture of bytes without its width and height.")
    planes = FORMATS.get(frame.pixel_format, ())
    if one and len(planes) > 1:
        return first.shape[1], first.shape[0] * 2 // 3
    return first.shape[1] << (planes[0].x_shift if planes else 0), first.shape[0]


def _layout(pixel_format: str, width: int, height: int) -> tuple[list[tuple[int, int]], int]:
    """The offsets and strides of a format's planes in a slot, and their total length."""
    if pixel_format not in FORMATS:
        raise Error(
            Code.UNSUPPORTED, f"The plug-in requested the unknown pixel format '{pixel_format}'. inlet_plugin knows "
            f"{', '.join(sorted(FORMATS))}.")
    if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE):
        raise Error(
            Code.INVALID_CONFIGURATION, f"The plug-in requested a picture of {width}x{height}. Use sides from 1 to "
            f"{LARGEST_SIDE}.")
    planes, end = [], 0
    for plane in FORMATS[pixel_format]:
        stride = -(-plane.row_bytes(width) // ROW_ALIGNMENT) * ROW_ALIGNMENT
        planes.append((end, stride))
        end += stride * plane.rows(height)
    return planes, end


def _rational(value: Fraction) -> tuple[int, int]:
    if value is None:
        return 0, 0
    if isinstance(value, float):
        value = fractions.Fraction(value).limit_denominator(1001)
    if not isinstance(value, tuple):
        value = fractions.Fraction(value).as_integer_ratio()
    if any(not -(1 << 31) <= part < 1 << 31 for part in value):
        raise Error(Code.PLUGIN, f"The fraction {value[0]}/{value[1]} has a part that does not fit into 32 bits.")
    return value[0], value[1]


def _fraction(value: tuple[int, int]) -> fractions.Fraction | None:
    return fractions.Fraction(*value) if value[1] else None


def _text(text: str, limit: int = 495) -> bytes:
    """The text as UTF-8 up to its first zero character, truncated between characters."""
    encoded = text.split("\0")[0].encode("utf-8", "replace")[:limit]
    return encoded.decode("utf-8", "ignore").encode()


def _short_text(value: bytes) -> str:
    return value.split(b"\0")[0].decode("utf-8", "replace")


def _time(value: int | None) -> int:
    return NO_TIME if value is None else value


def _known(value: int) -> int | None:
    return None if value == NO_TIME else value


class _Connection:
    """The child's end of the socket, and the segment of shared memory."""

    def __init__(self, descriptor: int) -> None:
        # With the family and type given, and blocking left as it is, no system call is needed that a filter might
        # refuse.
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fileno=descriptor)
        self.wake = -1
        self.is_sink = False
        self.is_in_next = False
        self.deadline = NO_DEADLINE
        self.free_slots = 0
        self.demand = Demand()
        self.segment = 0
        self.slot_length = 0
        self._slot_count = 0
        self._map: mmap.mmap | None = None
        self._lines = (0, 0, 0)
        self._lines_lock = threading.Lock()

    def receive(self) -> tuple[bytes, list[int]]:
        data, descriptors, flags, _ = socket.recv_fds(
            self._socket, LONGEST_MESSAGE, 4, socket.MSG_CMSG_CLOEXEC)
        if not data:
            raise _HostGone
        if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC) or len(data) < _MESSAGE.offsets["reserved"]:
            raise Error(Code.PLUGIN, "Inlet sent a message that is longer or shorter than the protocol allows.")
        return data, descriptors

    def send(self, message: bytes) -> None:
        """Sends an answer. Waits until the socket has room for it."""
        until = now() + ANSWER_TIME
        while not self._try_send(message):
            poll = select.poll()
            poll.register(self._socket, select.POLLOUT)
            if now() >= until or not poll.poll(max(0, until - now()) / 1e6):
                raise _HostGone

    def note(self, type: _Type, text: str = "", level: int = 0, count: int = 0) -> None:
        """Sends a message that needs no answer, unless the socket has no room for it."""
        try:
            self._try_send(_NOTE.pack(type=type, level=level, count=count, text=_text(text)))
        except _HostGone:
            pass

    def message(self, type: _Type) -> None:
        try:
            self._try_send(_MESSAGE.pack(type=type))
        except _HostGone:
            pass

    def log(self, level: int, text: str) -> None:
        """Sends a log line. Beyond a hundred in one second, lines are counted and not sent."""
        with self._lines_lock:
            second, count, lost = self._lines
            if now() // 1_000_000_000 != second:
                if lost:
                    self.note(_Type.LOG, f"{lost} log lines of the plug-in were dropped.", Level.WARNING)
                second, count, lost = now() // 1_000_000_000, 0, 0
            if count < LINES_A_SECOND:
                self.note(_Type.LOG, text, level)
                count += 1
            else:
                lost += 1
            self._lines = (second, count, lost)

    def result(self, result: int, error: Error | None = None, wants: bytes = b"") -> None:
        message = _text(error.message) if error else b""
        self.send(_RESULT.pack(
            type=_Type.RESULT, result=result, native_code=error.native_code if error else 0,
            retry_after=error.retry_after if error else 0, message=message, wants=wants))

    def take_segment(self, data: bytes, descriptors: list[int]) -> None:
        values = _SEGMENT.unpack(data)
        length = values["slot_length"] * values["slot_count"]
        if len(descriptors) != 1 or not 0 < length < 1 << 40 or values["slot_count"] > 64:
            for descriptor in descriptors:
                os.close(descriptor)
            raise Error(Code.PLUGIN, "Inlet sent a segment of shared memory that the protocol does not allow.")
        try:
            protection = mmap.PROT_READ | (0 if self.is_sink else mmap.PROT_WRITE)
            self._map = mmap.mmap(descriptors[0], length, mmap.MAP_SHARED, protection)
        finally:
            os.close(descriptors[0])
        self.segment, self.slot_length = values["number"], values["slot_length"]
        self._slot_count = values["slot_count"]
        self.free_slots = (1 << self._slot_count) - 1

    def need(self, length: int) -> int:
        """A free slot of at least `length` bytes. Requests longer slots if the current ones are too short."""
        if not self.is_in_next:
            raise Error(Code.PLUGIN, "The plug-in requested a slot outside of next.")
        if self._map is None or self.slot_length < length:
            slot_length = -(-max(length, 1) // SLOT_ALIGNMENT) * SLOT_ALIGNMENT
            self.send(_NEED_SEGMENT.pack(type=_Type.NEED_SEGMENT, slot_length=slot_length))
            # The mapping is freed together with the last array in it.
            self._map = None
            while self._map is None:
                self.wait(self.deadline, self._socket)
                data, descriptors = self.receive()
                if _type(data) == _Type.SEGMENT:
                    self.take_segment(data, descriptors)
                elif _type(data) == _Type.CLOSE:
                    raise _HostGone
                else:
                    raise Error(Code.PLUGIN, f"Inlet sent message {_type(data)} instead of a segment.")
                if self.slot_length < length:
                    raise Error(
                        Code.RESOURCE_EXHAUSTED, f"The plug-in needs slots of {length} bytes; Inlet gave "
                        f"{self.slot_length}.")
        if not self.free_slots:
            raise Error(Code.RESOURCE_EXHAUSTED, "No slot of the shared memory is free.")
        return (self.free_slots & -self.free_slots).bit_length() - 1

    def memory(self, slot: int) -> memoryview:
        if self._map is None or not 0 <= slot < self._slot_count:
            raise Error(Code.PLUGIN, f"The shared memory has no slot {slot}.")
        return memoryview(self._map)[slot * self.slot_length:(slot + 1) * self.slot_length]

    def wait(self, until: int, *readable: typing.Any) -> list[typing.Any]:
        """The members of `readable` that can be read; empty at `until`. Raises ``Cancelled`` when the host cancels."""
        poll = select.poll()
        names = {}
        for item in readable:
            descriptor = item if isinstance(item, int) else item.fileno()
            names[descriptor] = item
            poll.register(descriptor, select.POLLIN)
        if self.wake >= 0:
            poll.register(self.wake, select.POLLIN)
        while True:
            left = max(0, until - now())
            ready = {descriptor for descriptor, _ in poll.poll(min(left / 1e6, 1e9))}
            if self.wake in ready:
                raise Cancelled
            if ready or not left:
                return [names[descriptor] for descriptor in ready]

    def watch(self) -> None:
        """Exits the process when Inlet has exited, even while the plug-in hangs."""
        poll = select.poll()
        poll.register(self._socket, 0)
        poll.poll()
        # The main thread notices the same, and has a second to close its resources.
        time.sleep(1)
        os._exit(1)

    def _try_send(self, message: bytes) -> bool:
        try:
            self._socket.send(message, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except BlockingIOError:
            return False
        except OSError as error:
            raise _HostGone from error
        return True


class _Instance:
    """The common base of sources and sinks."""

    scheme: str = ""
    """The scheme of the URI."""
    address: str = ""
    """The part of the URI after the colon, without the options."""
    options: dict[str, str] = {}
    """Every option that the manifest declares, in the manifest's form."""
    _connection: _Connection

    @property
    def deadline(self) -> int:
        """The time by which the current call must return."""
        return self._connection.deadline

    @property
    def wake_fd(self) -> int:
        """A descriptor that becomes readable when the instance is cancelled, and stays so. Poll it; do not read it."""
        return self._connection.wake

    @property
    def is_cancelled(self) -> bool:
        """Whether the host has cancelled the instance."""
        try:
            self._connection.wait(0)
        except Cancelled:
            return True
        return False

    def wait(self, *readable: typing.Any, until: int | None = None) -> typing.Any:
        """Waits for descriptors or until a time, but not beyond the deadline of the call.

        With `readable` (descriptors, sockets, files), returns a list of those that can be read, which is empty if the
        time came first. Without, returns whether `until` was reached. Raises ``Cancelled`` when the host cancels.
        """
        due = self.deadline if until is None else min(until, self.deadline)
        ready = self._connection.wait(due, *readable)
        return ready if readable else until is None or due == until

    def log(self, text: str, level: Level = Level.INFO) -> None:
        """Writes a line to Inlet's log. Beyond a hundred in one second, lines are counted and not written."""
        self._connection.log(level, text)


class Source(_Instance):
    """A source of pictures or packets. All functions are called on one thread."""

    sequence: int = 0
    """The number of the next picture or packet, unless that has its own."""

    def open(self, options: dict[str, str]) -> Stream:
        """Opens the device or connection and returns a description of the stream. Must return by ``deadline``, and
        within 100 ms of a cancellation, as ``wait`` does."""
        raise NotImplementedError

    def next(self, deadline: int) -> Frame | Packet | None:
        """Waits for the next picture or packet. Returns None if there was none by `deadline`, which is not an error.
        Raises ``EndOfStream`` at the end of the stream, and ``Error`` if the source cannot continue."""
        raise NotImplementedError

    def pause(self) -> None:
        """Stops the device without closing it. A source that overrides this and ``resume`` can pause."""
        raise NotImplementedError

    def resume(self) -> None:
        """Starts the device again."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes what ``open`` has opened, even if it failed. Must take at most 300 ms."""

    def slot(self, pixel_format: str, width: int, height: int) -> Slot:
        """Returns memory for a picture: fill it, and return it in a ``Frame``. Only within ``next``, one at a time."""
        planes, length = _layout(pixel_format, width, height)
        connection = self._connection
        number = connection.need(length)
        return Slot(connection.memory(number), connection.segment, number, pixel_format, width, height, planes)

    @property
    def demand(self) -> Demand:
        """The current demand of the sinks."""
        return self._connection.demand

    def report_progress(self) -> None:
        """Reports that data arrived from the device. The source then has more time before it is considered hung."""
        self._connection.message(_Type.PROGRESS)

    def count_drop(self, reason: str, count: int = 1) -> None:
        """Counts pictures that the source dropped. The reason is one word, such as "damaged"."""
        self._connection.note(_Type.DROP, reason, count=count)

    def begin_interruption(self, reason: str) -> None:
        """Reports that the device is unavailable for a while. The reason is a few words."""
        self._connection.note(_Type.INTERRUPTION, reason)

    def end_interruption(self) -> None:
        """Reports that the device is available again. The next picture has the same effect."""
        self._connection.note(_Type.INTERRUPTION)


class Sink(_Instance):
    """A sink of pictures or packets. All functions are called on one thread."""

    def wants(self, options: dict[str, str]) -> Wants:
        """Returns the requirements of the sink. Called first. Must open nothing."""
        return Wants()

    def start(self, stream: Stream) -> None:
        """Called before the first item, and again each time the stream has changed."""

    def consume(self, item: Frame | Packet) -> None:
        """Receives a picture or packet, which may be read only during the call. Raises ``EndOfStream`` if the sink
        wants no more items. After any other error, only this item is lost."""
        raise NotImplementedError

    def finish(self) -> None:
        """Writes the remaining data."""

    def request_key_frame(self) -> None:
        """Requests a key frame. For sinks of packets."""
        self._connection.message(_Type.KEY_FRAME)


def _type(data: bytes) -> int:
    return struct.unpack_from("=I", data)[0]


def _error(error: BaseException) -> Error:
    """The error that is reported to Inlet for an exception."""
    if isinstance(error, Error):
        return error
    if isinstance(error, MemoryError):
        return Error(Code.RESOURCE_EXHAUSTED, "The plug-in's memory is used up.")
    if isinstance(error, OSError):
        code = {
            errno.ENOENT: Code.NOT_FOUND, errno.ENODEV: Code.NOT_FOUND, errno.EACCES: Code.PERMISSION_DENIED,
            errno.EPERM: Code.PERMISSION_DENIED, errno.EBUSY: Code.BUSY, errno.ECONNREFUSED: Code.CONNECTION_REFUSED,
            errno.ECONNRESET: Code.DISCONNECTED, errno.EPIPE: Code.DISCONNECTED, errno.ENOMEM: Code.RESOURCE_EXHAUSTED,
            errno.ETIMEDOUT: Code.TIMED_OUT, errno.EMFILE: Code.RESOURCE_EXHAUSTED,
        }.get(error.errno or 0, Code.TIMED_OUT if isinstance(error, TimeoutError) else Code.INPUT_OUTPUT)
        text = f"{error.strerror}: {error.filename}" if error.filename else str(error)
        return Error(code, f"{text}.", native_code=error.errno or 0)
    traceback.print_exception(error)
    return Error(Code.INTERNAL, f"The plug-in has a bug: {type(error).__name__}: {error}")


class _Console(io.TextIOBase):
    """Standard output or error, which Inlet reads. Output that does not fit is dropped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, text: str) -> int:
        try:
            os.write(self._descriptor, text.encode("utf-8", "backslashreplace"))
        except OSError:
            pass
        return len(text)


class _Server:
    """Answers the requests of Inlet, one after another."""

    def __init__(self, connection: _Connection, classes: tuple[type, ...]) -> None:
        self._connection, self._classes = connection, classes
        self._instance: typing.Any = None
        self._is_started = False

    def run(self) -> int:
        """Serves until the end, and returns the exit code."""
        try:
            while True:
                try:
                    data, descriptors = self._connection.receive()
                    if _type(data) == _Type.CLOSE:
                        self._connection.deadline = _MESSAGE.unpack(data)["deadline"]
                        break
                    self._answer(data, descriptors)
                except EndOfStream:
                    self._connection.result(_END)
                except _HostGone:
                    raise
                except Exception as error:
                    told = _error(error)
                    self._connection.result(told.code, told)
        except _HostGone:
            pass
        return self._close()

    def _answer(self, data: bytes, descriptors: list[int]) -> None:
        type = _type(data)
        if type == _Type.CREATE:
            return self._create(data, descriptors)
        if type == _Type.SEGMENT:
            return self._connection.take_segment(data, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        source, sink = isinstance(self._instance, Source), isinstance(self._instance, Sink)
        if type == _Type.OPEN and source:
            self._connection.deadline = _MESSAGE.unpack(data)["deadline"]
            return self._open()
        if type == _Type.NEXT and source:
            return self._next(data)
        if type in (_Type.PAUSE, _Type.RESUME) and source:
            return self._pause(type, data)
        if type == _Type.START and sink:
            return self._start(data)
        if type == _Type.CONSUME and sink:
            return self._consume(data)
        raise Error(Code.PLUGIN, f"Inlet sent message {type}, which inlet_plugin {__version__} does not expect here.")

    def _create(self, data: bytes, descriptors: list[int]) -> None:
        values = _CREATE.unpack(data)
        if len(descriptors) != 1 or self._instance is not None:
            raise Error(Code.PLUGIN, "Inlet sent a CREATE that the protocol does not allow.")
        self._connection.wake = descriptors[0]
        if values["major"] != MAJOR:
            raise Error(
                Code.PLUGIN, f"Inlet uses version {values['major']} of the plug-in protocol, but inlet_plugin "
                f"{__version__} uses version {MAJOR}. Install matching versions of both.")
        base = {_SOURCE: Source, _SINK: Sink}.get(values["kind"], type(None))
        found = [kind for kind in self._classes if issubclass(kind, base)]
        if not found:
            raise Error(Code.UNSUPPORTED, f"The plug-in has no {base.__name__.lower()}.")
        texts = [text.decode("utf-8", "surrogateescape") for text in data[_CREATE.size:].split(b"\0")]
        if len(texts) < 2 + 2 * values["option_count"]:
            raise Error(Code.PLUGIN, "Inlet sent a CREATE with fewer options than it states.")
        instance = found[0]()
        instance._connection = self._connection
        instance.scheme, instance.address = texts[:2]
        pairs = texts[2:2 + 2 * values["option_count"]]
        instance.options = dict(zip(pairs[::2], pairs[1::2]))
        wants = b""
        if base is Sink:
            self._connection.is_sink = True
            wanted = instance.wants(instance.options)
            wants = _WANTS.pack(
                size=_WANTS.size, packets=int(wanted.packets), width=wanted.width, height=wanted.height,
                frame_rate=_rational(wanted.frame_rate), keeps_rotation=int(wanted.keeps_rotation))
        self._instance = instance
        self._connection.result(_OK, wants=wants)

    def _open(self) -> None:
        stream = self._instance.open(self._instance.options)
        kind = type(self._instance)
        can_pause = kind.pause is not Source.pause and kind.resume is not Source.resume
        self._connection.send(_STREAM.pack(
            type=_Type.OPENED, pacing=stream.pacing, width=stream.width, height=stream.height,
            pixel_format=_text(stream.pixel_format, 23), codec=_text(stream.codec, 23),
            time_base=_rational(stream.time_base), frame_rate=_rational(stream.frame_rate),
            sample_aspect_ratio=_rational(stream.sample_aspect_ratio), color=stream.color, rotation=stream.rotation,
            timestamp_bits=stream.timestamp_bits, reorder_depth=stream.reorder_depth, duration=stream.duration,
            parameter_sets_length=len(stream.parameter_sets), can_pause=int(can_pause),
        ) + bytes(stream.parameter_sets))

    def _next(self, data: bytes) -> None:
        values, connection, source = _NEXT.unpack(data), self._connection, self._instance
        connection.deadline, connection.free_slots = values["deadline"], values["free_slots"]
        demand = _DEMAND.unpack(values["demand"])
        connection.demand = Demand(
            bool(demand["wants_pictures"]), bool(demand["wants_packets"]), demand["key_frame_requests"],
            _fraction(demand["frame_rate"]), demand["width"], demand["height"])
        connection.is_in_next = True
        try:
            item = source.next(connection.deadline)
            if item is not None:
                message = self._item(item)
        finally:
            connection.is_in_next = False
        connection.result(_AGAIN) if item is None else connection.send(message)

    def _item(self, item: Frame | Packet) -> bytes:
        connection, source = self._connection, self._instance
        if not isinstance(item, (Frame, Packet)):
            raise Error(Code.PLUGIN, f"next returned a {type(item).__name__}. Return a Frame, a Packet or None.")
        message = self._packet(item) if isinstance(item, Packet) else self._picture(item)
        sequence = source.sequence if item.sequence is None else item.sequence
        source.sequence = sequence + 1
        sets = bytes(getattr(item, "parameter_sets", b""))
        return _ITEM.pack(
            type=_Type.ITEM, flags=int(item.flags), segment=connection.segment, sequence=sequence,
            pts=_time(item.pts), duration=item.duration, capture_time=_time(item.capture_time),
            wall_clock=_time(item.wall_clock), parameter_sets_length=len(sets), **message) + sets

    def _picture(self, frame: Frame) -> dict[str, typing.Any]:
        slot = frame.picture
        if not isinstance(slot, Slot):
            slot = self._instance.slot(frame.pixel_format, *_size_of(frame))
            slot._fill(frame.picture)
        elif slot._segment != self._connection.segment or not self._connection.free_slots >> slot._number & 1:
            raise Error(Code.PLUGIN, "The plug-in returned a slot that is no longer its own.")
        planes = [number for plane in slot._planes for number in plane]
        return dict(
            slot=slot._number, width=slot.width, height=slot.height, rotation=frame.rotation, dts=NO_TIME,
            pixel_format=_text(slot.pixel_format, 23), sample_aspect_ratio=_rational(frame.sample_aspect_ratio),
            color=frame.color, plane_count=len(slot._planes), planes=planes + [0] * (8 - len(planes)))

    def _packet(self, packet: Packet) -> dict[str, typing.Any]:
        data = memoryview(packet.data).cast("B")
        number = self._connection.need(len(data))
        self._connection.memory(number)[:len(data)] = data
        return dict(is_packet=1, slot=number, dts=_time(packet.dts), length=len(data))

    def _pause(self, type_: int, data: bytes) -> None:
        kind = type(self._instance)
        if kind.pause is Source.pause or kind.resume is Source.resume:
            raise Error(Code.UNSUPPORTED, "The plug-in cannot pause.")
        self._connection.deadline = _MESSAGE.unpack(data)["deadline"]
        if type_ == _Type.PAUSE:
            self._instance.pause()
        else:
            self._instance.resume()
        self._connection.result(_OK)

    def _start(self, data: bytes) -> None:
        values = _STREAM.unpack(data)
        self._connection.deadline = values["deadline"]
        self._is_started = True
        self._instance.start(Stream(
            pixel_format=_short_text(values["pixel_format"]), width=values["width"], height=values["height"],
            codec=_short_text(values["codec"]), pacing=Pacing(values["pacing"]),
            time_base=_fraction(values["time_base"]), frame_rate=_fraction(values["frame_rate"]),
            sample_aspect_ratio=_fraction(values["sample_aspect_ratio"]), color=Color(*values["color"]),
            rotation=values["rotation"], timestamp_bits=values["timestamp_bits"],
            reorder_depth=values["reorder_depth"], duration=values["duration"],
            parameter_sets=data[_STREAM.size:_STREAM.size + values["parameter_sets_length"]]))
        self._connection.result(_OK)

    def _consume(self, data: bytes) -> None:
        values = _ITEM.unpack(data)
        self._connection.deadline = values["deadline"]
        memory = self._connection.memory(values["slot"])
        times = dict(
            pts=_known(values["pts"]), duration=values["duration"], sequence=values["sequence"],
            capture_time=_known(values["capture_time"]), wall_clock=_known(values["wall_clock"]),
            flags=Flag(values["flags"]))
        item: Frame | Packet
        if values["is_packet"]:
            sets = data[_ITEM.size:_ITEM.size + values["parameter_sets_length"]]
            item = Packet(memory[:values["length"]], dts=_known(values["dts"]), parameter_sets=sets, **times)
        else:
            name, planes = _short_text(values["pixel_format"]), values["planes"]
            pairs = list(zip(planes[::2], planes[1::2]))[:values["plane_count"]]
            slot = Slot(
                memory, values["segment"], values["slot"], name, values["width"], values["height"], pairs)
            item = Frame(
                slot, name, slot.width, slot.height, color=Color(*values["color"]), rotation=values["rotation"],
                sample_aspect_ratio=_fraction(values["sample_aspect_ratio"]), **times)
        self._instance.consume(item)
        self._connection.result(_OK)

    def _close(self) -> int:
        try:
            if isinstance(self._instance, Source):
                self._instance.close()
            elif self._instance is not None and self._is_started:
                self._instance.finish()
        except Exception:
            traceback.print_exc()
            return 1
        return 0


def run(*classes: type[Source] | type[Sink]) -> typing.NoReturn:
    """Serves a source, a sink, or one of each to Inlet, and exits the process when Inlet is done."""
    try:
        is_socket = stat.S_ISSOCK(os.fstat(CHILD_SOCKET).st_mode)
    except OSError:
        is_socket = False
    if not is_socket:
        print(
            f"{sys.argv[0]} is an Inlet plug-in. Add its folder to INLET_PLUGIN_PATH and run: inlet plugins",
            file=sys.stderr)
        sys.exit(64)
    sys.stdout, sys.stderr = _Console(1), _Console(2)
    connection = _Connection(CHILD_SOCKET)
    threading.Thread(target=connection.watch, daemon=True).start()
    code = _Server(connection, classes).run()
    # Exit at once, without waiting for threads that the plug-in left running.
    os._exit(code)
