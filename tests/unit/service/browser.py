"""Chromium, driven through a pipe by its own protocol: it clicks and types as a person does."""

import base64
import json
import os
import subprocess
import time
from contextlib import contextmanager

from tests.unit.reports.pages import CHROMIUM, FLAGS


class Tab:
    """One page of the browser."""

    def __init__(self, read, write):
        self._read, self._write = read, write
        self._next, self._session, self.console = 0, None, []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        found = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def _call(self, method, **params):
        self._next += 1
        message = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while True:
            answer = self._message()
            if answer.get("id") == self._next:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.console.append(answer["params"])

    def _message(self):
        text = b""
        while not text.endswith(b"\0"):
            byte = self._read.read(1)
            assert byte, "Chromium has ended"
            text += byte
        return json.loads(text[:-1])

    def open(self, url):
        self._call("Page.navigate", url=url)
        end = time.monotonic() + 20.0
        while self.run("document.getElementById('ask') === null"):  # its script has not run
            assert time.monotonic() < end
            time.sleep(0.05)

    def run(self, script):
        """Return the value of an expression in the page."""
        found = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script, seconds=20.0):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < end, (script, self.run("document.body.innerText"))
            time.sleep(0.1)

    def click(self, selector):
        """Press the mouse in the middle of an element."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call(
                "Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                clickCount=1,
            )  # fmt: skip

    def type(self, text):
        self._call("Input.insertText", text=text)

    def media(self, scheme):
        """Prefer light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def size(self, width, height):
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, mobile=False,
            deviceScaleFactor=1,
        )  # fmt: skip

    def picture(self, path):
        found = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browsing(folder):
    """Yield a page of a browser that ends with the test."""
    down, up = os.pipe(), os.pipe()
    flags = [*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    command = f'exec "$@" 3<&{down[0]} 4>&{up[1]}'
    process = subprocess.Popen(
        ["bash", "-c", command, "bash", CHROMIUM, *flags], pass_fds=(down[0], up[1]),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(down[0])
    os.close(up[1])
    read, write = os.fdopen(up[0], "rb", buffering=0), os.fdopen(down[1], "wb")
    try:
        yield Tab(read, write)
    finally:
        process.terminate()
        process.wait(timeout=20)
        read.close()
        write.close()
