"""Who may talk to the page: this browser, from this address, and nobody else's page in it.

A pure ASGI application around the page, for requests and websockets alike.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.web.texts import Texts, preferred

MOST_UPLOAD = 2 * 2**30
"""Bytes that one request may bring: an upload of a table."""
MOST_FORM = 4096
SLOW = 1.0
"""Seconds between two tries of a password."""
_FORWARDED = (b"x-forwarded-", b"forwarded", b"x-real-ip", b"accept-encoding", b"x-http-method")


@dataclass(slots=True)
class Guard:
    """Lets through what comes from the browser that was given the secret.

    Attributes:
        app: the page.
        port: the port that it is served on.
        hosts: what the address may be called, without the port.
        is_tls: it is served over TLS.
        password: asked for before anything is shown; None: the secret in the address is enough.

    Guarantee:
        Nothing but the page that asks for the password, and refusals, goes to whoever has no
        cookie of this run; a websocket is opened for pages of this very address alone.
    """

    app: ASGIApp
    port: int
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost")
    is_tls: bool = False
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _not_before: float = 0.0

    @property
    def cookie(self) -> str:
        """Return the name of the cookie: two pages on one machine have one each."""
        return f"shoal-{self.port}"

    @property
    def address(self) -> str:
        """Return the address, with its secret where it has one."""
        scheme = "https" if self.is_tls else "http"
        query = f"/?token={self.token}" if self.token and self.password is None else "/"
        return f"{scheme}://{self.hosts[0]}:{self.port}{query}"

    @property
    def _origins(self) -> set[str]:
        scheme = "https" if self.is_tls else "http"
        return {f"{scheme}://{host}" for host in self._names}

    @property
    def _names(self) -> set[str]:
        return {f"{host}:{self.port}".lower() for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        heads = _Heads(scope["headers"])
        refused = self._refusal(scope, heads)
        if scope["type"] == "websocket":
            if refused or not self._is_known(heads):
                await receive()
                await send({"type": "websocket.close", "code": 1008})
                return
            await self.app(_stripped(scope), receive, send)
            return
        if refused:
            await _answer(send, 403, "This page answers its own address alone.")
        elif self._is_known(heads):
            await self._known(scope, heads, receive, send)
        else:
            await self._unknown(scope, heads, receive, send)

    def _refusal(self, scope: Scope, heads: _Heads) -> bool:
        """Say whether a request comes from anywhere but this address."""
        if heads.one("host").lower() not in self._names:
            return True
        origin = heads.one("origin")
        if scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD"):
            return origin.lower() not in self._origins
        site = heads.one("sec-fetch-site") or "none"
        if origin and origin.lower() not in self._origins:
            return True
        return site not in ("none", "same-origin")

    def _is_known(self, heads: _Heads) -> bool:
        try:
            found = SimpleCookie(heads.one("cookie")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self._session)

    async def _known(self, scope: Scope, heads: _Heads, receive: Receive, send: Send) -> None:
        if scope["path"] == "/" and b"token=" in scope["query_string"]:
            await _answer(send, 303, "", [(b"location", b"/")])
            return
        length = heads.one("content-length")
        if length and (not length.isdigit() or int(length) > MOST_UPLOAD):
            await _answer(send, 413, "That is too large for this page.")
            return
        nonce = secrets.token_urlsafe(16)
        await self.app(_stripped(scope), _limited(receive), _Dressed(send, nonce))

    async def _unknown(self, scope: Scope, heads: _Heads, receive: Receive, send: Send) -> None:
        texts = Texts(preferred(heads.one("accept-language")))
        if self.password is not None:
            await self._ask(scope, texts, receive, send)
            return
        given = parse_qs(scope["query_string"].decode("ascii", "replace")).get("token", [""])[0]
        if scope["path"] == "/" and self.token is not None and _same(given, self.token):
            self.token = None  # it stands in histories and lists of processes: once is enough
            await self._enter(send)
            return
        await _answer(send, 403, texts("guard.secret"))

    async def _enter(self, send: Send) -> None:
        cookie = f"{self.cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
        cookie += "; Secure" if self.is_tls else ""
        await _answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", cookie.encode())])

    async def _ask(self, scope: Scope, texts: Texts, receive: Receive, send: Send) -> None:
        """Ask for the password, and compare what was said, not too often."""
        assert self.password is not None
        if scope["method"] == "POST" and scope["path"] == "/login":
            now = time.monotonic()
            if now < self._not_before:
                await _answer(send, 429, form(texts, "guard.wait"), html=True)
                return
            said = parse_qs((await _body(receive)).decode("utf-8", "replace"))
            if _same(said.get("password", [""])[0], self.password):
                await self._enter(send)
                return
            self._not_before = now + SLOW
            await _answer(send, 403, form(texts, "guard.wrong"), html=True)
            return
        if scope["method"] == "GET" and scope["path"] == "/":
            await _answer(send, 200, form(texts), html=True)
            return
        await _answer(send, 403, texts("guard.first"))


def form(texts: Texts, problem: str | None = None) -> str:
    """Return the page that asks for the password.

    problem: the key of what went wrong.
    """
    said = "" if problem is None else texts(problem)
    return (
        f"<!doctype html><html lang={texts.language}><title>shoal</title><meta name=viewport "
        'content="width=device-width"><meta name=color-scheme content="light dark">'
        '<body style="font:16px system-ui;max-width:24rem;margin:20vh auto"><h1>shoal</h1>'
        f"<p role=alert>{said}</p><form method=post action=/login>"
        f"<label>{texts('guard.password')} <input type=password name=password autofocus "
        f"autocomplete=current-password></label> <button>{texts('guard.open')}</button></form>"
    )


class _Heads:
    """The headers of a request; one that stands twice is none."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._raw = list(raw)

    def one(self, name: str) -> str:
        """Return a header; empty: it is not there, or not once."""
        key = name.encode()
        found = [value for each, value in self._raw if each.lower() == key]
        return found[0].decode("latin-1") if len(found) == 1 else ""


def _same(given: str, right: str) -> bool:
    one, other = (hashlib.sha256(text.encode()).digest() for text in (given, right))
    return hmac.compare_digest(one, other)


def _stripped(scope: Scope) -> Scope:
    """Return a request without what a proxy would say: there is none."""
    kept = [(name, value) for name, value in scope["headers"] if not name.startswith(_FORWARDED)]
    return {**scope, "headers": kept}


def _limited(receive: Receive) -> Receive:
    """Stop a body that grows beyond what it may be, whatever its header said."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if seen > MOST_UPLOAD else message

    return limited


async def _body(receive: Receive) -> bytes:
    """Return the body of a small form; what is longer is cut off."""
    body = b""
    while len(body) <= MOST_FORM:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body[:MOST_FORM]


def policy(nonce: str = "") -> str:
    """Return the content security policy of a page."""
    scripts = f"'self' 'nonce-{nonce}' 'unsafe-eval'" if nonce else "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
    )


def _safe_heads(nonce: str = "") -> list[tuple[bytes, bytes]]:
    return [
        (b"content-security-policy", policy(nonce).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"same-origin"),  # with none, a form's own origin would be "null"
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    ]


async def _answer(
    send: Send,
    status: int,
    text: str,
    heads: Iterable[tuple[bytes, bytes]] = (),
    *,
    html: bool = False,
) -> None:
    kind = b"text/html; charset=utf-8" if html else b"text/plain; charset=utf-8"
    body = text.encode()
    told = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [*told, *_safe_heads(), *heads]})
    await send({"type": "http.response.body", "body": body})


class _Dressed:
    """Sends an answer with the headers that keep it safe, and its scripts with the nonce."""

    def __init__(self, send: Send, nonce: str) -> None:
        self._send = send
        self._nonce = nonce
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [h for h in message["headers"] if h[0].lower() != b"content-security-policy"]
            kinds = [value for name, value in kept if name.lower() == b"content-type"]
            is_page = bool(kinds) and kinds[0].startswith(b"text/html")
            started = {**message, "headers": [*kept, *_safe_heads(self._nonce)]}
            if is_page:
                self._start = started
            else:
                await self._send(started)
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._page(self._start)

    async def _page(self, start: Message) -> None:
        body = self._body.replace(b"<script", f'<script nonce="{self._nonce}"'.encode())
        heads = [
            h for h in start["headers"] if h[0].lower() not in (b"content-length", b"cache-control")
        ]
        length = (b"content-length", str(len(body)).encode())
        await self._send({**start, "headers": [*heads, length, (b"cache-control", b"no-store")]})
        await self._send({"type": "http.response.body", "body": body})
