"""Headless Chromium for tests of pages, by the DevTools protocol over a pipe: nothing to install
beside the browser.
"""

import base64
import fcntl
import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)  # fmt: skip


class Browser:
    """A browser with one page; `errors` collects what the page complains about."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(
            prefix="numbus-chromium-",
            ignore_cleanup_errors=True,  # its children may write a moment longer
        )
        ours = [*os.pipe(), *os.pipe()]
        # Away from 3 and 4, which are theirs.
        to_read, self.write_end, self.read_end, to_write = (
            fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ours
        )
        for end in ours:
            os.close(end)
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
                   f"--user-data-dir={self.folder.name}", "about:blank"]  # fmt: skip
        # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        shell = ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", *command]
        self.process = subprocess.Popen(
            shell, pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session = b"", 0, None
        self.events, self.errors = [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"]
                      if t["type"] == "page")["targetId"]  # fmt: skip
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self.write_end)
        self.process.kill()
        self.process.wait()
        os.close(self.read_end)
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def receive(self, timeout=60.0):
        """The next message of the browser."""
        end = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self.read_end, selectors.EVENT_READ)
            while b"\0" not in self.buffer:
                if not selector.select(max(0.0, end - time.monotonic())):
                    raise TimeoutError("the browser does not answer")
                part = os.read(self.read_end, 1 << 16)
                if not part:
                    raise RuntimeError("the browser has ended")
                self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """Keeps an event, and what is an error of the page among them."""
        method, values = message.get("method"), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.errors.append(values["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning"):
            self.errors.append(str(values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.errors.append(values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = values["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.errors.append(f"the page asks for {url}")

    def call(self, method, **values):
        """One command and its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def open(self, file, width=1280, height=900, dark=False):
        """Loads a file into a window of that width and colour scheme."""
        self.errors.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=f"file://{file}")
        while "Page.loadEventFired" not in self.events:
            self.note(self.receive())

    def run(self, script):
        """The value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                          awaitPromise=True)  # fmt: skip
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"]))
        return found["result"].get("value")

    def picture(self, file, whole=True):
        """A PNG of the page."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(file, "wb") as stream:
            stream.write(base64.b64decode(found["data"]))
