"""A day of a fleet: devices encode and send, a collector releases, whatever is lost or killed.

    python loop.py MODEL RECORDS --folder FOLDER [--rollout MODEL] [--devices 1000] …

Every record of the file is sent by one of the devices until the collector says that it is on disk.
At the end everything is counted and every batch verified; exit code 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import random
import resource
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from mqtt import Broker, Client

from shoal import edge
from shoal.edge.gateway import Gateway
from shoal.model.model import RecodingModel

HERE = Path(__file__).resolve().parent
WAIT = (2.0, 16.0)  # seconds after which a device sends again, at first and at last


class Device:
    """Encodes its own records, and keeps each until it is acknowledged."""

    def __init__(self, name: str, records: list[dict[str, str]], models: Mapping[str, edge.Encoder],
                 version: str, *, takes_new: bool) -> None:  # fmt: skip
        self.name, self.records, self.models = name, records, models
        self.version, self.takes_new = version, takes_new
        self.waiting: dict[str, asyncio.Event] = {}
        self.acknowledged: list[tuple[str, str]] = []
        self.client = Client(name, self.received)

    async def received(self, topic: str, payload: bytes) -> None:
        """Take in an acknowledgement, or the version of a new model."""
        if topic == "fleet/model":
            if self.takes_new and payload.decode() in self.models:
                self.version = payload.decode()
        elif payload.decode() in self.waiting:
            self.waiting[payload.decode()].set()

    async def run(self, host: str, port: int, chance: random.Random) -> None:
        """Send all records."""
        await asyncio.sleep(chance.random() * 3)
        await self.client.connect(host, port)
        await self.client.subscribe("fleet/model")
        await self.client.subscribe(f"fleet/ack/{self.name}")
        for number, record in enumerate(self.records):
            await asyncio.sleep(chance.random() * 3)
            version = self.version
            name = f"{self.name}-{number}-{chance.getrandbits(64):x}"
            message = {
                "device": self.name, "id": name, "model": version,
                "record": self.models[version].encode(record),
            }  # fmt: skip
            await self._until_acknowledged(name, json.dumps(message).encode())
            self.acknowledged.append((version, name))
        await self.client.close()

    async def _until_acknowledged(self, name: str, payload: bytes) -> None:
        self.waiting[name] = asyncio.Event()
        wait = WAIT[0]
        while not self.waiting[name].is_set():
            await self.client.publish("fleet/records", payload)
            try:
                await asyncio.wait_for(self.waiting[name].wait(), wait)
            except TimeoutError:
                wait = min(2 * wait, WAIT[1])
        del self.waiting[name]


async def collector(host: str, port: int, folder: Path) -> asyncio.subprocess.Process:
    """Start the collector."""
    return await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "collector.py"), host, str(port), str(folder)
    )


async def day(asked: argparse.Namespace, models: Mapping[str, edge.Encoder], version: str,
              new: str | None) -> tuple[list[Device], Broker | None, int]:  # fmt: skip
    """Let all devices send; kill the collector in the middle if that is asked."""
    chance = random.Random(asked.seed)
    with open(asked.records, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    devices = [
        Device(f"d{n}", rows[n :: asked.devices], models, version,
               takes_new=chance.random() >= asked.old)
        for n in range(asked.devices)
    ]  # fmt: skip
    broker = None
    host, _, port = asked.broker.partition(":") if asked.broker else ("127.0.0.1", "", "0")
    if not asked.broker:
        broker = Broker(lose=asked.lose, double=asked.double, seed=asked.seed)
        port = str(await broker.start())
    process = await collector(host, int(port), asked.folder)
    work = asyncio.gather(*(each.run(host, int(port), chance) for each in devices))
    if new is not None:
        await asyncio.sleep(1.5)
        steward = Client("steward", devices[0].received)
        await steward.connect(host, int(port))
        await steward.publish("fleet/model", new.encode(), keep=True)
        await steward.close()
    killed = 0
    for _ in range(asked.kill):
        await asyncio.wait([work], timeout=chance.uniform(2, 4))
        if work.done():
            break
        process.kill()
        await process.wait()
        killed += 1
        process = await collector(host, int(port), asked.folder)
    await work
    process.terminate()
    await process.wait()
    return devices, broker, killed


def account(folder: Path, version: str, acknowledged: set[str]) -> tuple[dict[str, int], list[str]]:
    """Count and verify what became of the records of one model; return what is wrong, too."""
    gateway = Gateway(folder / version[:12], str(folder / "models" / f"{version}.json"))
    gateway.release(flush=True)
    seen = {name for (name,) in gateway.store.execute("select name from seen")}
    batches = sorted(gateway.folder.glob("batch-*.jsonl"))
    wrong, released, smallest = [], 0, sys.maxsize
    for batch in batches:
        rows = [json.loads(line) for line in batch.read_text(encoding="utf-8").splitlines()]
        found = edge.verify(rows, gateway.model)
        released += len(rows)
        smallest = min(smallest, found.smallest_class)
        if not found.holds:
            wrong.append(f"{batch.name} does not keep the promise")
    counts = {
        "acknowledged": len(acknowledged), "released": released, "batches": len(batches),
        "suppressed": gateway.suppressed, "waiting": gateway.waiting, "smallest class": smallest,
    }  # fmt: skip
    if acknowledged - seen:
        wrong.append(f"{len(acknowledged - seen)} acknowledged records were lost")
    if released + gateway.suppressed + gateway.waiting != len(seen):
        wrong.append("records were lost or doubled")
    gateway.close()
    return counts, wrong


def main() -> int:
    """Run a day."""
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("model")
    words.add_argument("records")
    words.add_argument("--folder", type=Path, required=True)
    words.add_argument("--rollout", metavar="MODEL", help="a new model, announced during the day")
    words.add_argument("--old", type=float, default=0.1, help="share that stays with the old one")
    words.add_argument("--devices", type=int, default=1000)
    words.add_argument("--lose", type=float, default=0.05)
    words.add_argument("--double", type=float, default=0.05)
    words.add_argument("--kill", type=int, default=0, help="times that the collector is killed")
    words.add_argument("--broker", metavar="HOST:PORT", help="such as mosquitto's")
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # two sockets a device
    (asked.folder / "models").mkdir(parents=True, exist_ok=True)
    models, versions = {}, []
    for place in [asked.model, *([asked.rollout] if asked.rollout else [])]:
        versions.append(RecodingModel.load(place).fingerprint)
        shutil.copy(place, asked.folder / "models" / f"{versions[-1]}.json")
        models[versions[-1]] = edge.load(place)
    new = versions[1] if asked.rollout else None
    devices, broker, killed = asyncio.run(day(asked, models, versions[0], new))
    print(f"{len(devices):,} devices, collector killed {killed} times")
    if broker is not None:
        print(f"{broker.lost:,} messages lost, {broker.doubled:,} doubled")
    faults = []
    for version in versions:
        mine = {name for each in devices for v, name in each.acknowledged if v == version}
        counts, wrong = account(asked.folder, version, mine)
        faults += wrong
        print(f"model {version[:12]}: " + ", ".join(f"{n:,} {what}" for what, n in counts.items()))
    print("; ".join(faults) or "nothing lost, nothing twice, every batch verified")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
