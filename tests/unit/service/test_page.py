"""The live page, in a browser: it draws what the service tells, and names a class by a click."""

import pytest

from infinimix.service.access import Access
from infinimix.service.page import live_page, security_policy
from tests.unit.reports.pages import CHROMIUM, Parsed
from tests.unit.service.browser import browsing
from tests.unit.service.running_server import listening, post
from tests.unit.service.served import LABELS, ROWS, serving


def test_the_page_is_whole_and_needs_nothing_else(tmp_path):
    text = live_page()
    parsed = Parsed(text)
    for word in ("http:", "https:", "//www", "@import", "url("):
        assert word not in text
    labelled = {a["for"] for a in parsed.find("label")}
    assert {a["id"] for a in parsed.find("input")} <= labelled
    assert "script-src 'sha256-" in security_policy()
    with serving(tmp_path) as client:
        answer = client.get("/")
        assert answer.text == text
        assert answer.headers["content-security-policy"] == security_policy()


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_class_is_named_by_clicking(tmp_path):
    nasty = "<b>music</b> & more"
    with listening(tmp_path / "state") as (url, owner), browsing(tmp_path) as tab:
        post(url + "learn", json={"rows": ROWS, "labels": LABELS}, timeout=60)
        for x, y in zip(ROWS, LABELS, strict=True):
            post(url + "predict-then-learn", json={"x": x, "y": y})
        post(url + "learn", json=[{"x": "oboe solo"}, {"x": "oboe and harp"}])
        tab.open(url)
        tab.wait("document.querySelector('#waiting button') !== null")
        assert tab.run("document.getElementById('rows').textContent") == "42"
        assert tab.run("document.getElementById('error').textContent") == "0.0%"
        assert "oboe" in tab.run("document.getElementById('waiting').innerText")
        tab.click("#waiting button")  # without a name it says so
        tab.wait("document.querySelector('.told').textContent === 'Write a name first.'")
        tab.click("#waiting input")
        tab.type(nasty)
        tab.click("#waiting button")
        tab.wait("document.getElementById('list').innerText.includes('music')")
        tab.wait("document.querySelector('#waiting button') === null")
        tab.run("document.activeElement.blur()")
        tab.click("#list tr:last-child button")
        tab.wait("document.querySelector('#chosen h3') !== null")
        assert tab.run("document.querySelector('#chosen h3').textContent") == nasty
        assert "oboe" in tab.run("document.querySelector('#chosen').innerText")
        tab.wait("document.querySelector('#plot-error .curve') !== null")
        assert tab.run("document.querySelectorAll('#plot-calibration .dot').length") >= 1
        assert nasty in owner.learner.model.classes_.tolist()
        tab.size(375, 800)
        assert tab.run("document.documentElement.scrollWidth") <= 375
        light = tab.run("getComputedStyle(document.body).backgroundColor")
        tab.media("dark")
        assert tab.run("getComputedStyle(document.body).backgroundColor") != light
        assert [e for e in tab.console if e.get("entry", {}).get("level") != "verbose"] == []


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_asks_for_a_token(tmp_path):
    token = "t" * 20
    served = listening(tmp_path / "state", access=Access(token))
    with served as (url, _), browsing(tmp_path) as tab:
        tab.open(url)
        tab.wait("!document.getElementById('ask').hidden")
        tab.click("#token")
        tab.type(token)
        tab.click("#enter")
        tab.wait("document.getElementById('state').textContent.includes('OnlineCRPClassifier')")
        assert tab.run("document.getElementById('ask').hidden")
