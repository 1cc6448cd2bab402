from __future__ import annotations

import asyncio
import re

import pytest

from shoal.web import guard as module
from shoal.web.guard import Guard, policy

PORT = 8600
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"


class Page:
    """A page behind the guard, that notes who came through."""

    def __init__(self) -> None:
        self.seen: list[dict] = []
        self.body = b"<!doctype html><script>go()</script><script src='/x.js'></script>"
        self.kind = b"text/html; charset=utf-8"

    async def __call__(self, scope, receive, send) -> None:
        self.seen.append(scope)
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            if not message.get("more_body"):
                break
        heads = [(b"content-type", self.kind), (b"content-length", b"9"),
                 (b"content-security-policy", b"default-src *")]  # fmt: skip
        await send({"type": "http.response.start", "status": 200, "headers": heads})
        await send({"type": "http.response.body", "body": self.body[:20], "more_body": True})
        await send({"type": "http.response.body", "body": self.body[20:]})


class Answer:
    def __init__(self, messages: list[dict]) -> None:
        self.messages = messages
        self.status = messages[0].get("status", messages[0]["type"])
        self.heads = {k.decode(): v.decode() for k, v in messages[0].get("headers", [])}
        self.body = b"".join(m.get("body", b"") for m in messages[1:])

    @property
    def cookie(self) -> str:
        return self.heads["set-cookie"].partition(";")[0]


def ask(guard, path="/", *, kind="http", method="GET", query="", body=(b"",), **heads) -> Answer:
    given = {"host": HOST, **{k.replace("_", "-"): v for k, v in heads.items()}}
    scope = {
        "type": kind, "method": method, "path": path, "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in given.items() if v is not None],
    }  # fmt: skip
    if kind == "websocket":
        del scope["method"]
    sent: list[dict] = []
    parts = [{"type": "http.request", "body": b, "more_body": True} for b in body]
    parts[-1]["more_body"] = False

    async def receive():
        return parts.pop(0) if parts else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(guard(scope, receive, send))
    return Answer(sent or [{"type": "nothing"}])


@pytest.fixture
def page() -> Page:
    return Page()


@pytest.fixture
def guard(page) -> Guard:
    return Guard(page, port=PORT)


@pytest.fixture
def cookie(guard) -> str:
    return ask(guard, query=f"token={guard.token}").cookie


def test_the_secret_in_the_address_becomes_a_cookie_that_no_script_and_no_other_site_has(guard):
    answer = ask(guard, query=f"token={guard.token}")
    assert (answer.status, answer.heads["location"]) == (303, "/")
    words = answer.heads["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(words)
    assert words[0].startswith(f"shoal-{PORT}=")


def test_the_secret_works_once(guard):
    token = guard.token
    assert token is not None
    ask(guard, query=f"token={token}")
    assert ask(guard, query=f"token={token}").status == 403
    assert "token" not in guard.address


@pytest.mark.parametrize("query", ["", "token=", "token=wrong", "t=%ff%00", "token[]=x"])
def test_without_the_secret_nothing_of_the_page_is_shown(guard, page, query):
    answer = ask(guard, query=query)
    assert answer.status == 403
    assert not page.seen


@pytest.mark.parametrize("path", ["/static/page.css", "/_nicegui/x", "/grid/rows", "/..//"])
def test_without_the_cookie_no_route_is_reached(guard, page, path):
    assert ask(guard, path, query=f"token={guard.token}").status == 403
    assert not page.seen


def test_with_the_cookie_the_page_is_shown_and_the_secret_leaves_the_address(guard, page, cookie):
    assert ask(guard, cookie=cookie).status == 200
    answer = ask(guard, query="token=x", cookie=cookie)
    assert (answer.status, answer.heads["location"]) == (303, "/")


@pytest.mark.parametrize(
    "wrong", ["shoal-8600=x", "shoal-8601={}", "other={}", "shoal-8600=", "{}"]
)
def test_another_cookie_is_none(guard, page, cookie, wrong):
    value = cookie.partition("=")[2]
    assert ask(guard, cookie=wrong.format(value)).status == 403
    assert not page.seen


@pytest.mark.parametrize(
    "heads",
    [
        {"host": "attacker.example"},
        {"host": f"attacker.example:{PORT}"},
        {"host": "127.0.0.1"},
        {"host": f"127.0.0.1:{PORT}.attacker.example"},
        {"host": None},
        {"origin": "http://attacker.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_what_comes_from_elsewhere_is_refused_even_with_the_cookie(guard, page, cookie, heads):
    assert ask(guard, cookie=cookie, **heads).status == 403
    assert not page.seen


def test_a_host_that_stands_twice_is_none(guard, page, cookie):
    scope_heads = [(b"host", HOST.encode()), (b"Host", b"attacker.example")]
    found = module._Heads(scope_heads)
    assert found.one("host") == ""


@pytest.mark.parametrize("origin", [None, "http://attacker.example", "null", f"https://{HOST}"])
def test_a_websocket_needs_the_origin_of_this_address(guard, page, cookie, origin):
    answer = ask(guard, "/_nicegui_ws/", kind="websocket", cookie=cookie, origin=origin)
    assert answer.status == "websocket.close"
    assert not page.seen


def test_a_websocket_needs_the_cookie(guard, page, cookie):
    answer = ask(guard, "/_nicegui_ws/", kind="websocket", origin=ORIGIN)
    assert answer.status == "websocket.close"
    assert not page.seen
    answer = ask(guard, "/_nicegui_ws/", kind="websocket", origin=ORIGIN, cookie=cookie)
    assert answer.status == "websocket.accept"


def test_what_changes_something_needs_the_origin(guard, page, cookie):
    assert ask(guard, "/x", method="POST", cookie=cookie).status == 403
    assert ask(guard, "/x", method="POST", cookie=cookie, origin=ORIGIN).status == 200


def test_what_a_proxy_would_say_does_not_reach_the_page(guard, page, cookie):
    ask(guard, cookie=cookie, x_forwarded_prefix="/evil", x_forwarded_host="evil",
        accept_encoding="gzip")  # fmt: skip
    names = {name for name, _ in page.seen[0]["headers"]}
    assert names == {b"host", b"cookie"}


def test_each_page_has_a_nonce_of_its_own_on_every_script(guard, page, cookie):
    found = []
    for _ in range(2):
        answer = ask(guard, cookie=cookie)
        (nonce,) = set(re.findall(rb'nonce="([^"]+)"', answer.body))
        assert answer.body.count(b"<script nonce=") == 2
        assert f"'nonce-{nonce.decode()}'" in answer.heads["content-security-policy"]
        assert int(answer.heads["content-length"]) == len(answer.body)
        assert answer.heads["cache-control"] == "no-store"
        # "no-referrer" would have a browser send a form with the origin "null", which is refused.
        assert answer.heads["referrer-policy"] == "same-origin"
        found.append(nonce)
    assert found[0] != found[1]


def test_what_is_no_page_is_handed_on_as_it_is(guard, page, cookie):
    page.kind = b"application/json"
    answer = ask(guard, cookie=cookie)
    assert answer.body == page.body
    assert answer.heads["x-content-type-options"] == "nosniff"
    assert "default-src *" not in answer.heads["content-security-policy"]


def test_the_policy_loads_nothing_from_elsewhere():
    rules = dict(each.split(" ", 1) for each in policy("n").split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == rules["form-action"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == rules["object-src"] == "'none'"
    assert not re.search(r"https?:|\*", policy("n"))
    assert "unsafe-inline" not in rules["script-src"]
    assert "script-src 'none'" in policy()


def test_an_upload_that_says_that_it_is_too_large_is_refused(guard, page, cookie):
    for length in ("2147483649", "-1", "x"):
        answer = ask(guard, "/up", method="POST", cookie=cookie, origin=ORIGIN,
                     content_length=length)  # fmt: skip
        assert answer.status == 413
    assert not page.seen


def test_an_upload_that_grows_beyond_what_it_may_be_is_cut_off(guard, page, cookie, monkeypatch):
    monkeypatch.setattr(module, "MOST_UPLOAD", 10)
    answer = ask(guard, "/up", method="POST", cookie=cookie, origin=ORIGIN, body=(b"12345678",) * 3)
    assert answer.status == "nothing"


class TestPassword:
    SECRET = "correct horse battery"

    @pytest.fixture
    def guard(self, page) -> Guard:
        return Guard(page, port=PORT, hosts=("ward.example",), is_tls=True, password=self.SECRET)

    def say(self, guard, password, **heads):
        heads = {"host": f"ward.example:{PORT}", "origin": f"https://ward.example:{PORT}", **heads}
        return ask(guard, "/login", method="POST", body=(f"password={password}".encode(),), **heads)

    def test_the_form_is_all_that_is_shown(self, guard, page):
        answer = ask(guard, host=f"ward.example:{PORT}")
        assert answer.status == 200
        assert b"type=password" in answer.body
        assert ask(guard, "/static/page.css", host=f"ward.example:{PORT}").status == 403
        assert not page.seen

    def test_the_form_is_in_the_language_of_the_browser(self, guard):
        answer = ask(guard, host=f"ward.example:{PORT}", accept_language="de-AT, en;q=0.5")
        assert "lang=de" in answer.body.decode()
        assert "Passwort" in answer.body.decode()
        said = self.say(guard, "wrong", accept_language="de")
        assert "nicht das Passwort" in said.body.decode()

    def test_the_secret_of_the_address_is_not_enough(self, guard, page):
        assert "token" not in guard.address
        answer = ask(guard, host=f"ward.example:{PORT}", query=f"token={guard.token}")
        assert "set-cookie" not in answer.heads

    def test_the_password_lets_in_with_a_secure_cookie(self, guard):
        answer = self.say(guard, self.SECRET.replace(" ", "+"))
        assert answer.status == 303
        assert answer.heads["set-cookie"].endswith("; Secure")

    def test_a_wrong_one_does_not_and_the_next_has_to_wait(self, guard):
        assert self.say(guard, "wrong").status == 403
        assert self.say(guard, self.SECRET.replace(" ", "+")).status == 429
        guard._not_before = 0.0
        assert self.say(guard, self.SECRET.replace(" ", "+")).status == 303

    def test_another_site_cannot_send_the_form(self, guard):
        assert self.say(guard, "x", origin="https://attacker.example").status == 403

    def test_a_form_of_any_size_is_read_in_part_only(self, guard):
        assert self.say(guard, "x" * 100_000).status == 403


def test_neither_secret_stands_in_the_repr(page):
    guard = Guard(page, port=PORT, password="correct horse battery")
    assert guard.token
    assert guard.token not in repr(guard)
    assert "horse" not in repr(guard)
