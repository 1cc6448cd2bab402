"""The collector: takes in encoded records, acknowledges what is on disk, releases what is strong.

It may be killed at any time: a record is acknowledged after the buffer has it, and the buffer
finishes what was decided (`shoal.edge.gateway`). Each model has a buffer of its own, so devices
with the old model and with the new one may send side by side.

    python collector.py HOST PORT FOLDER
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

from mqtt import Client

from shoal.edge.gateway import Gateway
from shoal.model.column import Rejected

OFTEN = 100  # records after which it looks whether something can be released


class Collector:
    """Buffers by model; folder/models/FINGERPRINT.json are those that it knows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gateways: dict[str, Gateway] = {}
        self.taken = 0
        self.client = Client("collector", self.received)

    def gateway(self, version: str) -> Gateway | None:
        """Return the buffer of a model; None where nobody knows the model."""
        if version not in self.gateways:
            model = self.folder / "models" / f"{version}.json"
            if not version.isalnum() or not model.is_file():
                return None
            self.gateways[version] = Gateway(self.folder / version[:12], str(model))
        return self.gateways[version]

    async def received(self, _: str, payload: bytes) -> None:
        """Take in a message, then acknowledge it; one that is no record is dropped."""
        try:
            message = json.loads(payload)
            device, name = str(message["device"]), str(message["id"])
            gateway = self.gateway(str(message["model"]))
            if gateway is None:
                return
            if gateway.receive(name, message["record"], encoded=True):
                with (gateway.folder / "encoded.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(message["record"]) + "\n")  # for drift alone
        except (ValueError, KeyError, TypeError, Rejected):
            return
        await self.client.publish(f"fleet/ack/{device}", name.encode())
        self.taken += 1
        if self.taken % OFTEN == 0:
            gateway.release()

    async def run(self, host: str, port: int) -> None:
        """Work until somebody ends it."""
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        await self.client.connect(host, port)
        await self.client.subscribe("fleet/records")
        await ended.wait()
        for gateway in self.gateways.values():
            gateway.release()
            gateway.close()


if __name__ == "__main__":
    asyncio.run(Collector(Path(sys.argv[3])).run(sys.argv[1], int(sys.argv[2])))
