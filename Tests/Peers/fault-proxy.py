#!/usr/bin/python3
"""A TCP or UDP proxy that delays, stalls, cuts, resets, loses, doubles, reorders and corrupts on command.

See README.md.
"""

import asyncio
import json
import random
import re
import socket
import struct
import time

import peer

KINDS = {"delay", "stall", "cut", "reset", "refuse", "loss", "duplicate", "reorder", "corrupt"}
PACKET_KINDS = {"loss", "duplicate", "reorder"}


class Fault:
    def __init__(self, message):
        self.kind = message["kind"]
        if self.kind not in KINDS:
            raise ValueError(f"no fault {self.kind!r}; there are {', '.join(sorted(KINDS))}")
        self.direction = message.get("direction", "down")
        if self.direction not in ("up", "down", "both"):
            raise ValueError("a direction is up, down or both")
        self.after_bytes = int(message.get("afterBytes", 0))
        self.after_seconds = float(message.get("afterSeconds", 0))
        self.seconds = float(message["seconds"]) if "seconds" in message else None
        self.percent = float(message.get("percent", 100))
        self.milliseconds = float(message.get("milliseconds", 20))
        self.made = time.monotonic()
        self.started = None

    def is_on(self, direction, passed):
        """Returns whether the fault is active for a flow with this number of passed bytes."""
        if self.direction not in (direction, "both"):
            return False
        now = time.monotonic()
        if self.started is None:
            if passed < self.after_bytes or now < self.made + self.after_seconds:
                return False
            self.started = now
        return self.seconds is None or now < self.started + self.seconds


class Proxy:
    def __init__(self, options):
        self.options = options
        host, port = options.target.rsplit(":", 1)
        self.target = (host, int(port))
        self.faults = [Fault(json.loads(text)) for text in options.fault]
        self.counts = {"connections": 0, "bytesUp": 0, "bytesDown": 0, "packets": 0, **{kind: 0 for kind in KINDS}}
        self.connections = set()
        self.flows = 0

    def on(self, direction, passed, kinds=KINDS):
        return [fault for fault in self.faults if fault.kind in kinds and fault.is_on(direction, passed)]

    def random(self):
        """Returns a separate random generator for each flow, so that the order of the flows doesn't matter."""
        self.flows += 1
        return random.Random(self.options.seed * 1_000_003 + self.flows)

    def corrupted(self, data, chance):
        self.counts["corrupt"] += 1
        changed = bytearray(data)
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed)

    async def run(self):
        loop = asyncio.get_running_loop()
        if self.options.protocol == "udp":
            relay = PacketRelay(self, "up", lambda: self.target)
            await loop.create_datagram_endpoint(lambda: relay, local_addr=("127.0.0.1", self.options.port))
            port = relay.port
        else:
            server = await asyncio.start_server(
                lambda *pair: Connection(self, *pair).run(), "127.0.0.1", self.options.port)
            port = server.sockets[0].getsockname()[1]

        def on_loop(handler):
            async def call(message):
                return handler(message)

            return lambda message: asyncio.run_coroutine_threadsafe(call(message), loop).result(5)

        handlers = {
            "fault": on_loop(self.fault), "clear": on_loop(self.clear), "report": on_loop(lambda _: self.counts)}
        peer.serve(self.options, handlers, {"port": port})
        await asyncio.Event().wait()

    def fault(self, message):
        self.faults.append(Fault(message))

    def clear(self, _):
        self.faults.clear()


class Connection:
    """A TCP connection through the proxy."""

    def __init__(self, proxy, reader, writer):
        self.proxy, self.client_reader, self.client_writer = proxy, reader, writer
        self.server_writer = None
        self.passed = {"up": 0, "down": 0}
        self.rewriter = Rewriter(proxy) if proxy.options.protocol == "rtsp" else None

    async def run(self):
        proxy = self.proxy
        proxy.counts["connections"] += 1
        if proxy.on("down", 0, {"refuse"}):
            proxy.counts["refuse"] += 1
            self.close(is_reset=True)
            return
        try:
            server_reader, self.server_writer = await asyncio.open_connection(*proxy.target)
        except OSError:
            self.close(is_reset=True)
            return
        pumps = [
            asyncio.create_task(self.pump("up", self.client_reader, self.server_writer)),
            asyncio.create_task(self.pump("down", server_reader, self.client_writer)),
            asyncio.create_task(self.watch()),
        ]
        proxy.connections.add(self)
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for task in pumps:
            task.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        self.close(is_reset=False)
        if self.rewriter:
            self.rewriter.close()
        proxy.connections.discard(self)

    def close(self, is_reset):
        for writer in (self.client_writer, self.server_writer):
            if writer is None or writer.is_closing():
                continue
            if is_reset:
                # With a linger time of zero, close() sends RST.
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            else:
                writer.close()

    async def watch(self):
        """Cuts and resets the connection even if no byte flows."""
        while True:
            for direction, passed in self.passed.items():
                for fault in self.proxy.on(direction, passed, {"cut", "reset"}):
                    self.proxy.counts[fault.kind] += 1
                    # Such a fault affects one connection: the client's next connection passes.
                    if fault.seconds is None:
                        self.proxy.faults.remove(fault)
                    self.close(is_reset=fault.kind == "reset")
                    return
            await asyncio.sleep(0.01)

    async def pump(self, direction, reader, writer):
        waiting = asyncio.Queue(maxsize=256)
        sender = asyncio.create_task(self.send(direction, waiting, writer))
        chance, proxy, passed = self.proxy.random(), self.proxy, 0
        try:
            while True:
                # Splits reads at the edges, so that "after N bytes" is exact.
                edges = [
                    f.after_bytes - passed for f in proxy.faults
                    if f.after_bytes > passed and f.direction in (direction, "both")]
                data = await reader.read(min([65536, *edges]))
                if not data:
                    break
                begin, passed = passed, passed + len(data)

                def spoil(part, at=begin):
                    for fault in proxy.on(direction, at, {"corrupt"}):
                        if part and chance.random() * 100 < fault.percent:
                            part = proxy.corrupted(part, chance)
                    return part

                data = self.rewriter.rewrite(direction, data, spoil) if self.rewriter else spoil(data)
                due = time.monotonic()
                for fault in proxy.on(direction, begin, {"delay"}):
                    due += fault.milliseconds / 1000
                    proxy.counts["delay"] += 1
                await waiting.put((due, data, begin, passed))
            await waiting.put(None)
            await sender
        finally:
            sender.cancel()

    async def send(self, direction, waiting, writer):
        proxy = self.proxy
        while (item := await waiting.get()) is not None:
            due, data, begin, end = item
            await asyncio.sleep(max(0, due - time.monotonic()))
            if proxy.on(direction, begin, {"cut", "reset"}):
                # The watcher closes the connection; no bytes after the edge may pass.
                await asyncio.sleep(1)
            is_counted = False
            while proxy.on(direction, begin, {"stall"}):
                proxy.counts["stall"] += not is_counted
                is_counted = True
                await asyncio.sleep(0.01)
            writer.write(data)
            proxy.counts["bytesUp" if direction == "up" else "bytesDown"] += len(data)
            await writer.drain()
            self.passed[direction] = end


class PacketRelay(asyncio.DatagramProtocol):
    """A UDP socket. It forwards received datagrams through the faults to `target()`, from another socket."""

    def __init__(self, proxy, direction, target, outlet=None):
        self.proxy, self.direction, self.target, self.outlet = proxy, direction, target, outlet
        self.chance, self.passed, self.peers = proxy.random(), 0, {}

    def connection_made(self, transport):
        self.transport = transport
        self.port = transport.get_extra_info("sockname")[1]
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)

    def datagram_received(self, data, source):
        proxy = self.proxy
        proxy.counts["packets"] += 1
        proxy.counts["bytesUp" if self.direction == "up" else "bytesDown"] += len(data)
        self.passed += len(data)
        delay, copies = 0, 1
        for fault in proxy.on(self.direction, self.passed):
            if fault.kind in ("stall", "cut", "reset", "refuse"):
                proxy.counts[fault.kind] += 1
                return
            # Draws the random number first, so that other faults don't change which packets are affected.
            if fault.kind != "delay" and self.chance.random() * 100 >= fault.percent:
                continue
            if fault.kind == "corrupt":
                data = proxy.corrupted(data, self.chance) if data else data
                continue
            proxy.counts[fault.kind] += 1
            if fault.kind == "loss":
                return
            if fault.kind == "duplicate":
                copies += 1
            else:
                delay += fault.milliseconds / 1000
        for _ in range(copies):
            if delay:
                asyncio.get_running_loop().call_later(delay, self.forward, data, source)
            else:
                self.forward(data, source)

    def forward(self, data, source):
        target = self.target()
        if target is None:
            return
        if self.outlet is not None:
            try:
                self.outlet().sendto(data, target)
            except OSError:
                pass  # Nobody listens there any more, or the connection has ended meanwhile.
        elif source in self.peers:
            self.peers[source].send(data)
        else:
            # A new client gets a separate socket to the target, which receives the answers for it.
            outward = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            outward.setblocking(False)
            outward.connect(target)
            self.peers[source] = outward
            back = PacketRelay(self.proxy, "down", lambda: source, lambda: self.transport)
            asyncio.ensure_future(asyncio.get_running_loop().create_datagram_endpoint(lambda: back, sock=outward))
            outward.send(data)


class Rewriter:
    """Inserts the proxy's UDP ports into RTSP's SETUP, relays the datagrams to them, and finds interleaved packets."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.buffers = {"up": b"", "down": b""}
        self.is_raw = {"up": False, "down": False}
        self.pairs = []
        self.pending = []

    def close(self):
        for pair in self.pairs:
            for each in (*pair["to_server"], *pair["to_client"]):
                asyncio.get_running_loop().remove_reader(each)
                each.close()

    def rewrite(self, direction, data, spoil):
        """Returns the bytes of `data` to forward. Applies `spoil` to the payload of each interleaved RTP packet; if the
        data is not plain RTSP, to all of it."""
        if self.is_raw[direction]:
            return spoil(data)
        buffer, done = self.buffers[direction] + data, b""
        while buffer:
            if buffer[0] == 0x24:
                length = 4 + int.from_bytes(buffer[2:4], "big") if len(buffer) >= 4 else 4
                if len(buffer) < length:
                    break
                # The payload follows four bytes of RTSP and twelve of RTP; RTCP uses the odd channels.
                is_rtp = length > 16 and buffer[1] % 2 == 0
                packet = buffer[:16] + spoil(buffer[16:length]) if is_rtp else buffer[:length]
                done, buffer = done + packet, buffer[length:]
                continue
            end = buffer.find(b"\r\n\r\n")
            if (b"\n" in buffer and b"RTSP/1.0" not in buffer.split(b"\n", 1)[0] or len(buffer) > 65536
                    or buffer[0] > 0x7F or buffer[0] < 0x20):
                # TLS, an HTTP tunnel or garbage: pass everything unchanged from here on.
                self.is_raw[direction] = True
                done, buffer = done + buffer, b""
                break
            if end < 0:
                break
            head = buffer[: end + 4]
            length = re.search(rb"(?im)^content-length:\s*(\d+)", head)
            whole = end + 4 + (int(length.group(1)) if length else 0)
            if len(buffer) < whole:
                break
            head = self.request(head) if direction == "up" else self.reply(head)
            done, buffer = done + head + buffer[end + 4 : whole], buffer[whole:]
        self.buffers[direction] = buffer
        return done

    def request(self, head):
        ports = re.search(rb"client_port=(\d+)-(\d+)", head)
        if not head.startswith(b"SETUP ") or not ports:
            return head
        pair = {"client": [int(port) for port in ports.groups()], "server": None}
        first_server, server_sockets = adjacent_sockets()
        first_client, client_sockets = adjacent_sockets()
        pair.update(first_server=first_server, first_client=first_client)
        pair["to_server"] = [
            self.attach(pair, index, "down", "client", each) for index, each in enumerate(server_sockets)]
        pair["to_client"] = [
            self.attach(pair, index, "up", "server", each) for index, each in enumerate(client_sockets)]
        self.pairs.append(pair)
        self.pending.append(pair)
        return head.replace(ports.group(0), f"client_port={first_server}-{first_server + 1}".encode())

    def attach(self, pair, index, direction, towards, made):
        relay = PacketRelay(
            self.proxy, direction, lambda: pair[towards] and ("127.0.0.1", pair[towards][index]),
            lambda: pair["to_client" if direction == "down" else "to_server"][index])
        relay.transport = made
        asyncio.get_running_loop().add_reader(made, self.drain, made, relay)
        return made

    @staticmethod
    def drain(made, relay):
        for _ in range(64):
            try:
                relay.datagram_received(*made.recvfrom(65536))
            except (BlockingIOError, ConnectionError):
                return

    def reply(self, head):
        ours = re.search(rb"client_port=(\d+)-(\d+)", head)
        theirs = re.search(rb"server_port=(\d+)-(\d+)", head)
        if not ours or not theirs:
            return head
        pair = next((each for each in self.pending if each["first_server"] == int(ours.group(1))), None)
        if pair is None:
            return head
        self.pending.remove(pair)
        pair["server"] = [int(port) for port in theirs.groups()]
        head = head.replace(theirs.group(0), f"server_port={pair['first_client']}-{pair['first_client'] + 1}".encode())
        return head.replace(ours.group(0), "client_port={}-{}".format(*pair["client"]).encode())


def adjacent_sockets():
    """Returns two UDP sockets on an even port and the next one, as RTP requires."""
    for _ in range(200):
        made = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        first = random.SystemRandom().randrange(10240, 32000, 2)
        try:
            for index, each in enumerate(made):
                each.setblocking(False)
                each.bind(("127.0.0.1", first + index))
            return first, made
        except OSError:
            for each in made:
                each.close()
    raise RuntimeError("no two free UDP ports side by side")


if __name__ == "__main__":
    parser = peer.parser(__doc__)
    parser.add_argument("--target", required=True, help="HOST:PORT of the server behind the proxy")
    parser.add_argument("--protocol", choices=["tcp", "udp", "rtsp"], default="tcp",
                        help="rtsp is tcp, and the UDP ports that SETUP negotiates")
    parser.add_argument("--port", type=int, default=0, help="port; 0 selects a free one")
    parser.add_argument("--seed", type=int, default=1, help="the same seed affects the same packets")
    parser.add_argument("--fault", action="append", default=[], help="a fault from the start, as JSON; may be repeated")
    asyncio.run(Proxy(parser.parse_args()).run())
