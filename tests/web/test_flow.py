"""The page in a real Chromium: from the empty page to a verified release, and what must not be."""

from __future__ import annotations

import csv
import filecmp
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests.web.chromium import FLAGS, PLACE, SLOW, needs_chromium
from tests.web.server import Server, served
from tests.web.test_child import is_alive

from shoal.schema.schema import Role
from shoal.web.panels.columns import LANES
from shoal.web.texts import Texts

ENGLISH = Texts("en")

playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as found:
        browser = found.chromium.launch(executable_path=PLACE, args=list(FLAGS))
        yield browser
        browser.close()


class Visit:
    """One browser with a page in it; what it asked for and complained of is noted."""

    def __init__(self, chromium, server: Server) -> None:
        self.server = server
        self.context = chromium.new_context(
            viewport={"width": 1440, "height": 900}, locale="en-GB", ignore_https_errors=True
        )
        self.context.set_default_timeout(SLOW)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page = self.tab(server.address)

    def tab(self, address: str):
        page = self.context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        page.goto(address)
        return page

    @property
    def home(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/"

    def check(self) -> None:
        """Nothing left the machine, and nothing was refused by the policy."""
        assert {url.split("/")[2] for url in self.asked if "://" in url} == {
            f"127.0.0.1:{self.server.port}"
        }
        assert self.complaints == []
        assert self.server.log.read_text() == ""


@contextmanager
def visit(chromium, folder: Path, *words: str):
    with served(folder, *words) as server:
        found = Visit(chromium, server)
        try:
            yield found
        finally:
            found.context.close()


def lane(page, role: str):
    return page.locator(f".lane[aria-label='{role}']")


def card(page, name: str):
    return page.locator(f".card[aria-label='{name}']")


def opened(page, table: str) -> None:
    """Choose a file of the folder."""
    page.get_by_label("A file of this folder").click()
    page.get_by_label("A file of this folder").fill(table)
    page.locator(".q-menu .q-item", has_text=table).first.click()
    page.wait_for_selector(".card")
    page.wait_for_selector("#risk .figure")
    page.wait_for_selector(".card .bars")


def given(page, name: str, role: Role) -> None:
    """Give a column a role by the key of its lane; the focus goes with the card."""
    card(page, name).focus()
    page.keyboard.press(str(LANES.index(role) + 1))
    goal = lane(page, ENGLISH(f"columns.role_{role}"))
    goal.locator(f".card[aria-label='{name}']").wait_for()
    page.wait_for_function("name => document.activeElement.ariaLabel === name", arg=name)


def written(page) -> str:
    """Write the release, and return the commands beside the button."""
    commands = page.inner_text("#release-command")
    page.click("#write")
    page.wait_for_selector("#release .note.good")
    return commands


def same_as_the_command(folder: Path, commands: str) -> None:
    """Run the printed commands, and compare what they write with what the page wrote."""
    (results,) = folder.glob("*project/results")
    ours = results.rename(folder / "ours")
    results.mkdir()
    for line in commands.splitlines():
        shoal, *words = shlex.split(line)
        assert shoal == "shoal"
        subprocess.run([sys.executable, "-m", "shoal", *words], cwd=folder, check=True,
                       capture_output=True)  # fmt: skip
    names = sorted(each.name for each in ours.iterdir())
    assert names == sorted(each.name for each in results.iterdir())
    assert len(names) >= 2
    assert filecmp.cmpfiles(ours, results, names, shallow=False) == (names, [], [])


def test_from_the_empty_page_to_a_verified_release_that_the_printed_command_repeats(
    chromium, folder
):
    with visit(chromium, folder) as found:
        page = found.page
        opened(page, "stays.csv")
        given(page, "cost", Role.IDENTIFYING)
        page.keyboard.press("5")  # the focus went with the card
        lane(page, "Neutral").locator(".card[aria-label='cost']").wait_for()
        given(page, "cost", Role.IDENTIFYING)
        given(page, "stay_days", Role.NEUTRAL)
        page.keyboard.press("Control+z")
        lane(page, "Quasi-identifier").locator(".card[aria-label='stay_days']").wait_for()
        chip = page.locator("#hierarchies .columns-row button", has_text="zip")
        chip.focus()
        page.keyboard.press("Enter")  # the row is drawn anew, and the focus is there again
        page.wait_for_selector(".tree-row")
        page.wait_for_function(
            "() => { const at = document.activeElement; return at.ariaPressed === 'true' "
            "&& at.textContent.includes('zip'); }"
        )
        commands = written(page)
        found.check()
        children = found.server.children()
        assert children
        found.server.process.kill()  # however it ends, no child is left
        found.server.process.wait()
        deadline = time.monotonic() + SLOW / 1000
        while any(map(is_alive, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(is_alive, children))
        log = found.server.log.read_text()
    assert log == ""
    same_as_the_command(folder, commands)


@pytest.mark.nightly
def test_a_card_is_dragged_into_another_lane(chromium, folder):
    with visit(chromium, folder) as found:
        opened(found.page, "stays.csv")
        goal = lane(found.page, "Identifying")
        card(found.page, "cost").drag_to(goal, target_position={"x": 60, "y": 50})
        goal.locator(".card[aria-label='cost']").wait_for()
        found.check()


class _Attacker(BaseHTTPRequestHandler):
    page = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *args) -> None:
        pass


ATTACK = """<!doctype html><title>wait</title><iframe id=f src=HOME></iframe><img id=i src=HOMEx>
<script>(async () => {
  const got = {};
  const tries = {
    read: () => fetch("HOME", {credentials: "include"}).then(r => r.text()),
    blind: () => fetch("HOME", {credentials: "include", mode: "no-cors"}).then(r => r.type),
    upload: () => fetch("HOME_nicegui/client/x/upload/1", {method: "POST", body: "x",
      credentials: "include"}).then(r => r.status),
    socket: () => new Promise((done, fail) => {
      const s = new WebSocket("WS_nicegui_ws/socket.io/?EIO=4&transport=websocket");
      s.onmessage = e => done(e.data);
      s.onerror = s.onclose = () => fail("refused");
    }),
    frame: async () => { await new Promise(r => setTimeout(r, 1500));
      return document.getElementById("f").contentDocument.body.innerText; },
  };
  for (const [name, one] of Object.entries(tries)) {
    try { got[name] = String(await one()); } catch (e) { got[name] = "refused"; }
  }
  window.got = got; document.title = "done";
})()</script>"""


@pytest.mark.nightly
def test_an_attackers_page_in_the_same_browser_reads_and_starts_nothing(chromium, folder):
    with visit(chromium, folder, "stays.csv") as found:
        found.page.wait_for_selector(".card")
        sockets = found.home.replace("http:", "ws:")
        _Attacker.page = ATTACK.replace("HOME", found.home).replace("WS", sockets).encode()
        server = HTTPServer(("127.0.0.1", 0), _Attacker)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            for host in ("127.0.0.1", "localhost"):
                page = found.context.new_page()
                page.goto(f"http://{host}:{server.server_port}/")
                page.wait_for_function("document.title == 'done'")
                got = page.evaluate("window.got")
                assert got["read"] == got["socket"] == got["frame"] == got["upload"] == "refused"
                assert "stays" not in str(got)
                page.close()
        finally:
            server.shutdown()
        assert card(found.page, "zip").is_visible()


def password_said(page, password: str, then: str) -> str:
    """Give a password; return what the page says then, or that it is too soon."""
    page.fill("input[type=password]", password)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    wait = page.get_by_text("Wait a moment")
    page.get_by_text(then).or_(wait).first.wait_for()
    return "Wait a moment" if wait.count() else then


@pytest.mark.nightly
def test_whoever_has_the_password_opens_a_table_of_a_live_database(
    chromium, tmp_path, sample, monkeypatch
):
    folder, key, certificate = tmp_path / "w", tmp_path / "key.pem", tmp_path / "cert.pem"
    folder.mkdir()
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True,
                   capture_output=True)  # fmt: skip
    names, *rows = csv.reader(sample.splitlines())
    ward = sqlite3.connect(folder / "ward.db")
    ward.execute(f"CREATE TABLE stays ({', '.join(names)})")
    ward.executemany(f"INSERT INTO stays VALUES ({', '.join('?' * len(names))})", rows)
    ward.commit()  # and it stays open
    monkeypatch.setenv("SHOAL_WEB_PASSWORD", "correct horse battery")
    files = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with visit(chromium, folder, "--host", "127.0.0.1", *files) as found:
        page = found.page
        for password, then in (("wrong horse battery", "That is not the password"),
                               ("correct horse battery", "A database")):  # fmt: skip
            said = password_said(page, password, then)
            while said == "Wait a moment":  # not too often
                said = password_said(page, password, then)
        page.get_by_role("button", name="A database").click()
        page.get_by_label("Address", exact=True).fill("sqlite:///ward.db")
        page.get_by_label("Table", exact=True).fill("stays")
        page.locator(".dialog").get_by_role("button", name="Open", exact=True).click()
        page.wait_for_selector("#risk .figure")
        commands = written(page)
        assert commands.startswith("shoal anonymize sqlite:///ward.db --table stays ")
        assert found.server.log.read_text() == ""
    ward.close()
    same_as_the_command(folder, commands)


@pytest.mark.nightly
def test_two_tabs_see_each_others_changes_and_a_reload_finds_all_of_it(chromium, folder):
    with visit(chromium, folder, "stays.csv") as found:
        one = found.page
        one.wait_for_selector("#risk .figure")
        two = found.tab(found.home)
        given(two, "sex", Role.NEUTRAL)
        lane(one, "Neutral").locator(".card[aria-label='sex']").wait_for()
        given(one, "zip", Role.NEUTRAL)
        lane(two, "Neutral").locator(".card[aria-label='zip']").wait_for()
        one.click("#try")
        one.reload()
        one.wait_for_selector("#result .verdict, #result .note")
        lane(one, "Neutral").locator(".card[aria-label='sex']").wait_for()
        two.keyboard.press("Control+z")
        lane(one, "Quasi-identifier").locator(".card[aria-label='zip']").wait_for()
        found.check()
    with visit(chromium, folder, "stays.csv") as again:  # opened again, it is as it was
        lane(again.page, "Neutral").locator(".card[aria-label='sex']").wait_for()
        lane(again.page, "Quasi-identifier").locator(".card[aria-label='zip']").wait_for()


@pytest.mark.nightly
def test_a_messy_file_of_another_encoding_becomes_a_release(chromium, tmp_path):
    folder = tmp_path / "w"
    folder.mkdir()
    rows = "".join(
        f"Käthe {n};{18 + n * 7 % 60};{'mw'[n % 2]};Mühlweg {n % 9};{'?' if n % 3 else 'Ö'}\r\n"
        for n in range(300)
    )
    text = f"Klinik Süd\r\n\r\nName;Alter;Geschlecht;Straße;Größe\r\n{rows}"
    (folder / "alt.csv").write_bytes(text.encode("cp1252"))
    with visit(chromium, folder) as found:
        opened(found.page, "alt.csv")
        if lane(found.page, "Quasi-identifier").locator(".card").count() == 0:
            given(found.page, "Alter", Role.QUASI)
        commands = written(found.page)
        assert "--encoding cp1252 --skip-lines 2" in commands
        found.check()
    same_as_the_command(folder, commands)


@pytest.mark.nightly
def test_persons_of_a_hospitals_table_are_counted(chromium, tmp_path, data):
    source = data / "diabetes_130" / "diabetic_data.csv.gz"
    if not source.is_file():
        pytest.skip("needs ../shared/data/diabetes_130")
    folder = tmp_path / "w"
    folder.mkdir()
    names = ["patient_nbr", "race", "gender", "age", "diag_1"]
    import polars as pl

    pl.read_csv(source, columns=names, infer_schema=False).write_csv(folder / "diabetes.csv")
    with visit(chromium, folder, "diabetes.csv") as found:
        page = found.page
        page.wait_for_selector(".card")
        roles = (Role.PERSON, Role.QUASI, Role.QUASI, Role.QUASI, Role.SENSITIVE)
        for name, role in zip(names, roles, strict=True):
            given(page, name, role)
        page.wait_for_selector("#risk >> text=persons")
        commands = written(page)
        found.check()
    same_as_the_command(folder, commands)


@pytest.mark.nightly
def test_a_click_is_answered_while_a_job_runs_and_the_job_is_cancelled(chromium, tmp_path):
    from shoal.samples import hospital

    folder = tmp_path / "w"
    folder.mkdir()
    hospital(folder / "stays.csv", 60_000, seed=2)
    with visit(chromium, folder, "stays.csv") as found:
        page = found.page
        page.wait_for_selector("#risk .figure")
        page.wait_for_selector(".card .bars")
        # The best of several, with the browser's part: others work on the machine, too.
        rounds = [clicked_and_cancelled(page) for _ in range(3)]
        assert min(clicks for clicks, _ in rounds) < 1
        assert min(cancel for _, cancel in rounds) < 2
        assert found.server.process.poll() is None
        found.server.process.send_signal(signal.SIGTERM)
        assert found.server.process.wait(SLOW / 1000) == 0


def clicked_and_cancelled(page) -> tuple[float, float]:
    """Choose cards while a release is made; the 95th percentile of that, and of a cancel."""
    page.click("#try")
    page.wait_for_selector(".job >> visible=true")
    spent = []
    for name in ["sex", "zip"] * 10:
        began = time.perf_counter()
        card(page, name).click()
        page.wait_for_selector(f".detail h3:has-text('{name}')")
        spent.append(time.perf_counter() - began)
    began = time.perf_counter()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("#result .note:has-text('Cancelled')")
    cancelled = time.perf_counter() - began
    page.wait_for_selector(".job", state="hidden")
    return sorted(spent)[int(0.95 * len(spent)) - 1], cancelled
