from __future__ import annotations

import asyncio
import io
import json

import polars as pl
import pytest
from tests.service.conftest import SCHEMA, TABLE, Client


def test_a_table_is_brought_released_fetched_and_deleted(serving):
    client = serving()
    table = client.bring()
    asked = {"job": "release", "table": table, "schema": SCHEMA, "method": "bestcut"}
    job = client.ended(client.ask(**asked, report=".html", output={"format": "parquet"}))
    assert (job["state"], job["error"]) == ("done", None)
    assert job["files"] == ["report.html", "table.parquet"]
    result = client.get(f"/v1/jobs/{job['id']}/result").json()
    assert result["released"] == 240
    assert result["request"]["table"] == table
    file = client.get(f"/v1/jobs/{job['id']}/files/table.parquet")
    released = pl.read_parquet(io.BytesIO(file.content))
    assert released.height == 240
    assert released.group_by("age", "sex").len()["len"].min() >= 3
    page = client.get(f"/v1/jobs/{job['id']}/files/report.html")
    assert "sandbox" in page.headers["content-security-policy"]
    assert str(client.service.store.folder) not in page.text + json.dumps(result)
    again = {"job": "verify", "table": f"job:{job['id']}/table.parquet", "schema": SCHEMA}
    verified = client.ended(client.ask(**again))
    assert client.get(f"/v1/jobs/{verified['id']}/result").json()["holds"] is True
    for address in (f"/v1/jobs/{job['id']}", f"/v1/tables/{table.partition(':')[2]}"):
        assert client.delete(address).status_code == 204
        assert client.get(address).status_code == 404
    assert client.get("/v1/tables").json() == {"tables": []}


def test_a_release_that_cannot_be_is_a_failed_job_with_its_reason(serving):
    client = serving()
    strict = {**SCHEMA, "privacy": [{"model": "k-anonymity", "k": 500}]}
    job = client.ended(client.ask(job="release", table=client.bring(), schema=strict))
    assert job["state"] == "failed"
    assert job["error"]["kind"] == "NoSolutionError"
    assert job["files"] == []
    assert client.get(f"/v1/jobs/{job['id']}/result").status_code == 409
    assert client.get(f"/v1/jobs/{job['id']}/files/table.csv").status_code == 404
    assert str(client.service.store.folder) not in json.dumps(job)


@pytest.mark.parametrize("token", ["", "no", "Bearer", "Bearer nobody", "Basic mine", "bearer  "])
def test_without_a_token_there_is_no_answer(serving, token):
    client = serving()
    for method, path in (("GET", "/v1/tables"), ("POST", "/v1/jobs"), ("DELETE", "/v1/jobs/x")):
        answer = client.request(method, path, headers={"authorization": token})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    assert client.get("/v1/health", headers={"authorization": ""}).json()["status"] == "ready"


def test_clients_do_not_see_each_other(serving):
    client = serving()
    other = Client(client.service, token="other")
    table = client.bring()
    number = table.partition(":")[2]
    job = client.ask(job="infer", table=table)
    assert other.get("/v1/tables").json() == {"tables": []}
    assert other.get("/v1/jobs").json() == {"jobs": []}
    for method, path in (
        ("GET", f"/v1/tables/{number}"), ("DELETE", f"/v1/tables/{number}"),
        ("GET", f"/v1/jobs/{job['id']}"), ("DELETE", f"/v1/jobs/{job['id']}"),
        ("GET", f"/v1/jobs/{job['id']}/result"), ("GET", f"/v1/jobs/{job['id']}/files/schema.yaml"),
    ):  # fmt: skip
        assert other.request(method, path).status_code == 404
    assert other.post("/v1/jobs", json={"job": "infer", "table": table}).status_code == 404
    assert client.ended(job)["files"] == ["schema.yaml"]


def test_a_job_is_ended_and_leaves_nothing(serving, tmp_path):
    client = serving()
    table = client.bring()
    first = client.ask(job="infer", table=table)
    second = client.ask(job="infer", table=table)
    assert second["state"] == "queued"
    for job in (second, first):
        assert client.delete(f"/v1/jobs/{job['id']}").status_code == 204
    assert client.get("/v1/jobs").json() == {"jobs": []}
    assert [each.suffix for each in tmp_path.iterdir()] == [".csv"]


def test_what_is_too_much_is_turned_away(serving):
    client = serving(upload=len(TABLE), waiting=0)
    answer = client.post("/v1/tables", content=TABLE.encode() + b"x")
    assert answer.status_code == 413

    def stream():
        yield TABLE.encode()
        yield b"one byte more than it said"

    assert client.post("/v1/tables", content=stream()).status_code == 413
    table = client.bring()
    client.ask(job="infer", table=table)
    busy = client.post("/v1/jobs", json={"job": "infer", "table": table})
    assert busy.status_code == 503
    assert busy.headers["retry-after"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"{", 400), (b"\xff", 400), (b"[]", 422), (b"3", 422), (b"NaN", 422),
     (b'{"job": "release", "job": "verify"}', 400), (b'{"job": "infer", "table": 3}', 422),
     (b'{"job": "infer", "table": "upload:x"}', 404)],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_words(serving, body, status):
    answer = serving().post("/v1/jobs", content=body)
    assert answer.status_code == status
    assert set(answer.json()["error"]) <= {"kind", "problem", "faults"}


def test_formats_and_addresses_that_are_not_there(serving):
    client = serving()
    assert client.post("/v1/tables?format=exe", content=b"x").status_code == 415
    assert client.get("/v1/nothing").status_code == 404
    assert client.put("/v1/jobs").status_code == 405
    table = client.bring()
    asked = {"job": "release", "table": table, "schema": SCHEMA}
    for words in ({"report": ".exe"}, {"output": {"format": "exe"}}):
        assert client.post("/v1/jobs", json={**asked, **words}).status_code == 422
    assert client.get("/v1/openapi.json").json()["openapi"] == "3.1.0"


@pytest.mark.parametrize(
    ("limits", "drips"), [({"patience": 0.2}, False), ({"seconds": 0.4}, True)]
)
def test_a_client_that_stops_sending_or_never_ends_is_given_up(serving, tmp_path, limits, drips):
    client = serving(**limits)

    async def ask():
        sent = []

        async def receive():
            if drips:
                await asyncio.sleep(0.05)
            if drips or not sent:
                sent.append(True)
                return {"type": "http.request", "body": b"age\n", "more_body": True}
            return await asyncio.sleep(60)

        answers = []

        async def send(message):
            answers.append(message)

        scope = {
            "type": "http", "method": "POST", "path": "/v1/tables", "query_string": b"",
            "headers": [(b"authorization", b"Bearer mine")], "root_path": "", "scheme": "http",
        }  # fmt: skip
        await client.app(scope, receive, send)
        return answers[0]["status"]

    assert client.portal.call(ask) == 408
    assert list(tmp_path.iterdir()) == []


def test_the_log_has_no_value_and_no_number(serving):
    client = serving()
    lines: list[str] = []
    client.service.log = lines.append
    table = client.bring("name\nBeatrix\n")
    job = client.ended(client.ask(job="infer", table=table))
    client.get(f"/v1/jobs/{job['id']}/files/Beatrix")
    client.post(
        "/v1/jobs", json={"job": "verify", "table": table, "schema": {"columns": "Beatrix"}}
    )
    text = "\n".join(lines)
    assert "POST /v1/tables 201 mine" in lines
    assert "Beatrix" not in text
    assert job["id"] not in text


def test_results_are_deleted_on_time(serving, tmp_path):
    client = serving(keep=0.5)
    client.bring()
    for _ in range(200):
        if not list(tmp_path.iterdir()):
            break
        client.portal.call(asyncio.sleep, 0.05)
    assert list(tmp_path.iterdir()) == []
    assert client.get("/v1/tables").json() == {"tables": []}
