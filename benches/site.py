#!/usr/bin/env python3
"""How soon a page of a site is there on a slow line: python3 benches/site.py SITE [PAGE …] [--gzip]

In Chromium at 1.6 Mbit/s, 150 ms of latency and a quarter of the processor's speed: milliseconds until the first cell of a table is laid out, until something
is painted, and until the stories in sight compute. --gzip: from a host that compresses, as most do."""
import fcntl
import functools
import gzip
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

MARKS = """(() => { const marks = globalThis.marks = {}; const look = () => {
  const cell = document.querySelector("table td");
  if (!marks.cell && cell && cell.getBoundingClientRect().height > 0 && document.styleSheets.length) marks.cell = performance.now();
  if (!marks.live && document.documentElement?.dataset.live !== undefined) marks.live = performance.now();
  requestAnimationFrame(look); }; look(); })()"""


class Browser:
    """Chromium over two pipes."""

    def __init__(self):
        (theirs, self.to), (self.back, ours) = os.pipe(), os.pipe()

        def pipes():
            at = [fcntl.fcntl(pipe, fcntl.F_DUPFD, 50) for pipe in (theirs, ours)]
            os.dup2(at[0], 3), os.dup2(at[1], 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--remote-debugging-pipe", f"--user-data-dir={tempfile.mkdtemp()}"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.sent, self.read = 0, b""

    def call(self, method, session=None, **parameters):
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.read:
                self.read += os.read(self.back, 1 << 20)
            text, self.read = self.read.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.sent:
                return answer["result"]

    def measured(self, address):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = functools.partial(self.call, session=self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Network"):
            page(f"{domain}.enable")
        page("Page.addScriptToEvaluateOnNewDocument", source=MARKS)
        page("Network.setCacheDisabled", cacheDisabled=True)
        page("Network.emulateNetworkConditions", offline=False, latency=150, downloadThroughput=2e5, uploadThroughput=2e5)
        page("Emulation.setCPUThrottlingRate", rate=4)
        page("Page.navigate", url=address)
        value = lambda script: page("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")
        for _ in range(400):
            time.sleep(0.05)
            if value("marks.live || (document.readyState == 'complete' && !document.querySelector('#program'))"):
                break
        painted = value("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        marks = json.loads(value("JSON.stringify(marks)"))
        self.call("Target.closeTarget", targetId=target)
        return [marks.get("cell"), painted, marks.get("live")]


class Host(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if "--gzip" not in sys.argv:
            return super().do_GET()
        path = pathlib.Path(self.translate_path(self.path))
        packed = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        for name, text in (("Content-Type", self.guess_type(str(path))), ("Content-Encoding", "gzip"), ("Content-Length", str(len(packed)))):
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(packed)

    def log_message(self, *_):
        pass


def main():
    folder, *pages = [word for word in sys.argv[1:] if word != "--gzip"]
    pages = pages or sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*.html"))
    host = http.server.ThreadingHTTPServer(("localhost", 0), functools.partial(Host, directory=folder))
    threading.Thread(target=host.serve_forever, daemon=True).start()
    browser = Browser()
    print(f"{'page':<42}{'cell':>8}{'painted':>9}{'computes':>10}")
    for page in pages:
        times = browser.measured(f"http://localhost:{host.server_port}/{page}")
        print(f"{page:<42}" + "".join("-".rjust(width) if at is None else f"{at:{width}.0f}" for at, width in zip(times, (8, 9, 10))), flush=True)
    browser.process.terminate()


main()
