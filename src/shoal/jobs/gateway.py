"""A gateway at work on lines of JSON, as they come."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from shoal.core.documents import Document
from shoal.core.errors import MethodError
from shoal.edge.gateway import PATIENCE, WINDOW, Gateway
from shoal.model.column import Rejected
from shoal.model.model import RecodingModel

OFTEN = 200
"""Lines after which a gateway looks whether something can be released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayRequest:
    """What is asked of a gateway; see `edge.gateway.Gateway`.

    Attributes:
        name: the member of a line that tells a message from all others.
        encoded: devices have encoded the records.
        flush: at the end, nobody waits.
    """

    model: str | Path
    folder: str | Path
    name: str
    window: int = WINDOW
    patience: float = PATIENCE
    encoded: bool = False
    flush: bool = False

    def __post_init__(self) -> None:
        if self.window < 1 or self.patience <= 0:
            raise MethodError(problem="--window must be at least 1, and --patience above 0")


def run_gateway(request: GatewayRequest, source: IO[bytes]) -> Document:
    """Take in lines until there are no more; return the counts."""
    gateway = Gateway(
        request.folder, RecodingModel.load(request.model),
        window=request.window, patience=request.patience,
    )  # fmt: skip
    counts = {"received": 0, "doubled": 0, "rejected": 0}
    try:
        for number, line in enumerate(source, start=1):
            counts[_received(gateway, request, line)] += 1
            if number % OFTEN == 0:
                gateway.release()
        gateway.release(flush=request.flush)
        return {
            **counts,
            "batches": len(list(Path(request.folder).glob("batch-*.jsonl"))),
            "waiting": gateway.waiting,
            "suppressed": gateway.suppressed,
        }
    finally:
        gateway.close()


def _received(gateway: Gateway, request: GatewayRequest, line: bytes) -> str:
    """Take in one line; say what became of it."""
    try:
        record = json.loads(line)
        name = record.pop(request.name)
        is_new = gateway.receive(str(name), record, encoded=request.encoded)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError, Rejected):
        return "rejected"
    return "received" if is_new else "doubled"
