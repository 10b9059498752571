"""A link that loses packets, between an aiortc peer and the single address of the other side."""

import asyncio
import random


class Link(asyncio.DatagramProtocol):
    """Forwards datagrams in both directions. Loses a given number of the long DTLS datagrams from the other side,
    chosen by a seed.

    ICE checks, pictures and acknowledgements pass. The lost datagrams contain messages of data channels, which DTLS
    carries (RFC 7983, 7).
    """

    # Every longer datagram contains a message.
    LONG = 600

    def __init__(self, server):
        self.server, self.peer = server, None
        self.random, self.percent, self.left = random.Random(1), 0, 0
        self.lost = 0

    def lose(self, percent, count):
        """Loses this percentage of the datagrams until this number is lost."""
        self.percent, self.left = percent, count

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        if address != self.server:
            self.peer = address
            return self.transport.sendto(data, self.server)
        if self.peer is None:
            return
        is_long = len(data) > self.LONG and 20 <= data[0] < 64
        if is_long and self.left and self.random.random() * 100 < self.percent:
            self.left, self.lost = self.left - 1, self.lost + 1
            return
        self.transport.sendto(data, self.peer)


async def before(line):
    """Inserts a link before the address of a UDP candidate, and returns the candidate with the link's address."""
    words = line.split()
    _, link = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Link((words[4], int(words[5]))), local_addr=(words[4], 0))
    host, port = link.transport.get_extra_info("sockname")[:2]
    return link, " ".join([*words[:4], host, str(port), *words[6:]])
