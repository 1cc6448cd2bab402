"""As much of MQTT 3.1.1 as a fleet needs: a broker for one machine, and a client.

The broker may lose and double messages, so that what is built on it is tried. Any other broker,
such as Debian's mosquitto, does in its place.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP, DISCONNECT = (
    1, 2, 3, 4, 8, 9, 12, 13, 14,
)  # fmt: skip
MOST = 1 << 20  # bytes of a packet
Received = Callable[[str, bytes], Awaitable[None]]


def packet(kind: int, body: bytes = b"", flags: int = 0) -> bytes:
    """Return a packet with its length, seven bits a byte."""
    size, head = len(body), bytearray([kind << 4 | flags])
    while True:
        size, low = size >> 7, size & 127
        head.append(low | (128 if size else 0))
        if not size:
            return bytes(head) + body


def text(value: str) -> bytes:
    """Return a text with its length before it."""
    raw = value.encode()
    return len(raw).to_bytes(2, "big") + raw


def taken(body: bytes) -> tuple[str, bytes]:
    """Return the text that a body begins with, and the rest."""
    size = 2 + int.from_bytes(body[:2], "big")
    return body[2:size].decode(), body[size:]


async def read_packet(reader: asyncio.StreamReader) -> tuple[int, int, bytes]:
    """Return kind, flags and body of the next packet."""
    head = (await reader.readexactly(1))[0]
    size = shift = 0
    while True:
        low = (await reader.readexactly(1))[0]
        size |= (low & 127) << shift
        shift += 7
        if low < 128:
            break
        if shift > 21:
            raise ConnectionError("a length of more than four bytes")
    if size > MOST:
        raise ConnectionError("a packet that is too long")
    return head >> 4, head & 15, await reader.readexactly(size)


class Broker:
    """Hands on what is published to those who asked for it.

    Args:
        lose, double: shares of the messages that are lost, and that come twice.
    """

    def __init__(self, *, lose: float = 0.0, double: float = 0.0, seed: int = 0) -> None:
        self.lose, self.double, self.chance = lose, double, random.Random(seed)
        self.asked: dict[str, set[asyncio.StreamWriter]] = {}
        self.kept: dict[str, bytes] = {}  # the last message of a topic, for who comes later
        self.lost = self.doubled = 0

    async def start(self) -> int:
        """Listen on this machine; return the port."""
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=2048)
        return int(self.server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                kind, flags, body = await read_packet(reader)
                if kind == DISCONNECT:
                    return
                self._answer(writer, kind, flags, body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            return
        finally:
            for writers in self.asked.values():
                writers.discard(writer)
            writer.close()

    def _answer(self, writer: asyncio.StreamWriter, kind: int, flags: int, body: bytes) -> None:
        if kind == CONNECT:
            writer.write(packet(CONNACK, b"\0\0"))
        elif kind == PINGREQ:
            writer.write(packet(PINGRESP))
        elif kind == SUBSCRIBE:
            topic, _ = taken(body[2:])
            self.asked.setdefault(topic, set()).add(writer)
            writer.write(packet(SUBACK, body[:2] + b"\0"))
            if topic in self.kept:
                writer.write(packet(PUBLISH, text(topic) + self.kept[topic], 1))
        elif kind == PUBLISH:
            topic, rest = taken(body)
            if flags & 6:
                writer.write(packet(PUBACK, rest[:2]))
                rest = rest[2:]
            if flags & 1:
                self.kept[topic] = rest
            self._hand_on(topic, rest)

    def _hand_on(self, topic: str, payload: bytes) -> None:
        for other in self.asked.get(topic, ()):
            if other.is_closing():
                continue
            luck = self.chance.random()
            times = 0 if luck < self.lose else 2 if luck > 1 - self.double else 1
            self.lost += times == 0
            self.doubled += times == 2
            other.write(packet(PUBLISH, text(topic) + payload) * times)


class Client:
    """Publishes, and is told what it asked for."""

    def __init__(self, name: str, received: Received) -> None:
        self.name, self.received = name, received

    async def connect(self, host: str, port: int) -> None:
        """Connect, and listen from now on."""
        self.reader, self.writer = await asyncio.open_connection(host, port)
        self.writer.write(packet(CONNECT, text("MQTT") + b"\4\2\0\0" + text(self.name)))
        kind, _, body = await read_packet(self.reader)
        if kind != CONNACK or body[1]:
            raise ConnectionError("the broker refuses")
        self.task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        try:
            while True:
                kind, flags, body = await read_packet(self.reader)
                if kind == PUBLISH:
                    topic, payload = taken(body)
                    await self.received(topic, payload[2:] if flags & 6 else payload)
        except (ConnectionError, asyncio.IncompleteReadError, OSError):
            return

    async def subscribe(self, topic: str) -> None:
        """Ask for the messages of a topic."""
        self.writer.write(packet(SUBSCRIBE, b"\0\1" + text(topic) + b"\0", 2))
        await self.writer.drain()

    async def publish(self, topic: str, payload: bytes, *, keep: bool = False) -> None:
        """Send a message; keep: whoever asks later gets it, too."""
        self.writer.write(packet(PUBLISH, text(topic) + payload, int(keep)))
        await self.writer.drain()

    async def close(self) -> None:
        """Say good-bye."""
        self.writer.write(packet(DISCONNECT))
        self.task.cancel()
        self.writer.close()
