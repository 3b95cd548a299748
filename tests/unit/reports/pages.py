"""What tests of pages share: a parser that fails on broken HTML, and models to write about."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd

NASTY = "<script>alert('x')</script> & \"y\""
VOID = {"meta", "link", "br", "img", "hr", "input"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--enable-logging=stderr",
    "--window-size=500,900",
]


class Tags(HTMLParser):
    """The tags of a page; fails on those that do not match and on ids used twice."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags = [], []
        self.feed(text)
        self.close()
        assert self.open == []
        ids = [a["id"] for _, a in self.tags if "id" in a]
        assert len(ids) == len(set(ids))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def find(self, tag, kind=None):
        found = [a for name, a in self.tags if name == tag]
        return [a for a in found if kind is None or kind in a.get("class", "").split()]


class Parsed(Tags):
    """The tags and texts of a page."""

    def __init__(self, text):
        self.texts = []
        super().__init__(text)

    def handle_data(self, data):
        if self.open and data.strip() and self.open[-1] not in ("script", "style"):
            self.texts.append(data.strip())

    @property
    def headings(self):
        return self.texts


def check_page(text):
    """Fail unless a page is whole, needs nothing else and can be heard; return it parsed."""
    parsed = Parsed(text)
    for word in ("http:", "https:", "//www", "@import", "<script>alert"):
        assert word not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {"#arrow"}
    for _, attrs in parsed.tags:
        for key in ("src", "href"):
            assert attrs.get(key, "#").startswith(("#", "data:"))
    anchors = {a["id"] for _, a in parsed.tags if "id" in a}
    assert {a["href"][1:] for a in parsed.find("a")} <= anchors
    assert parsed.find("html") == [{"lang": "en"}]
    assert len(parsed.find("h1")) == 1
    for svg in parsed.find("svg"):
        assert svg["role"] in ("img", "group")
        assert svg["aria-label"]
    assert len(parsed.find("caption")) == len(parsed.find("table"))
    labelled = {a["for"] for a in parsed.find("label")}
    assert {a["id"] for a in parsed.find("input")} <= labelled
    return parsed


def mixed_table(n=60, seed=0):
    """A small table of all kinds of columns, with holes and with names that look like markup."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            NASTY: rng.normal(4.0 * y, 1.0),
            "colour": np.where(rng.random(n) < 0.8, np.array(["red", "<i>"])[y], "blue"),
            "flag": rng.random(n) < 0.2 + 0.6 * y,
            "noise": rng.normal(size=n),
        }
    )
    X.loc[rng.random(n) < 0.2, NASTY] = np.nan
    X["colour"] = X["colour"].astype(object)
    X.loc[rng.random(n) < 0.2, "colour"] = None
    return X, np.array(["<b>no</b>", "yes & no"])[y]


def run_in_chromium(path, script, folder):
    """Run a script in the page; return what it returns and what the console said."""
    path = path.rename(path.with_suffix(".given.html"))
    text = path.read_text("utf-8")
    call = f"document.body.dataset.answer = JSON.stringify((function () {{ {script} }})());"
    page = folder / "driven.html"
    page.write_text(text.replace("</body>", f"<script>{call}</script></body>"), "utf-8")
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=True,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    body = next(a for tag, a in Parsed(done.stdout).tags if tag == "body")
    return json.loads(body["data-answer"]), console


def check_phone(path, folder):
    """A page is no wider than a phone, and its console is empty."""
    script = """
      const d = document.documentElement;
      d.style.width = "375px";
      return [d.scrollWidth <= d.clientWidth, document.body.scrollWidth];
    """
    (fits, width), console = run_in_chromium(path, script, folder)
    assert console == []
    assert fits
    assert width <= 375
