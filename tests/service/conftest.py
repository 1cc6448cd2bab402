"""A service in a folder of its own, asked without a network."""

from __future__ import annotations

import asyncio

import pytest
from starlette.testclient import TestClient

from shoal.service.app import Service
from shoal.service.limits import Limits
from shoal.service.serve import service_in
from shoal.service.tokens import tokens_of

TABLE = "age,sex,ill\n" + "".join(
    f"{20 + n % 40},{'mf'[n % 2]},{'abc'[n % 3]}\n" for n in range(240)
)
SCHEMA = {
    "columns": {"age": "quasi", "sex": "quasi", "ill": "sensitive"},
    "privacy": [{"model": "k-anonymity", "k": 3}],
}


class Client(TestClient):
    """A client with a token."""

    def __init__(self, service: Service, token: str = "mine") -> None:
        super().__init__(service.application(), headers={"authorization": f"Bearer {token}"})
        self.service = service

    def bring(self, text: str = TABLE, ending: str = "csv") -> str:
        answer = self.post(f"/v1/tables?format={ending}", content=text.encode())
        assert answer.status_code == 201, answer.text
        return answer.json()["reference"]

    def ask(self, **request: object) -> dict:
        answer = self.post("/v1/jobs", json=request)
        assert answer.status_code == 202, answer.text
        return answer.json()

    def ended(self, job: dict) -> dict:
        """Return how a job stands when it has ended."""
        for _ in range(2400):
            found = self.get(f"/v1/jobs/{job['id']}").json()
            if found["state"] not in ("queued", "running"):
                return found
            self.portal.call(asyncio.sleep, 0.05)
        raise AssertionError("the job does not end")


@pytest.fixture
def serving(tmp_path):
    """Return a function that starts a service with some limits."""
    started = []

    def start(**limits: float) -> Client:
        service = service_in(tmp_path, tokens_of(mine="mine", other="other"), Limits(**limits))
        client = Client(service)
        client.__enter__()
        started.append(client)
        return client

    yield start
    for client in started:
        client.__exit__(None, None, None)
    # No folder of a job is left; tables go with the folder of the service.
    assert not any(each.is_dir() for each in tmp_path.iterdir())
