"""Headless Chromium as a peer, driven over its DevTools protocol."""

import asyncio
import json
import os
import subprocess
import tempfile

from page_peer import PagePeer

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", "--disable-dev-shm-usage",
    "--mute-audio", "--autoplay-policy=no-user-gesture-required",
    # A page that nobody looks at goes on.
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
    "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
    # Candidates are plain addresses, loopback among them.
    "--allow-loopback-in-peer-connection", "--disable-features=WebRtcHideLocalIpsWithMdns",
]


class ChromiumPeer(PagePeer):
    def make_film(self):
        """What the camera sees."""
        bars = os.path.join(self.folder, "bars.y4m")
        subprocess.run(["ffmpeg", "-v", "error", "-i", os.path.join(self.media, "bars.avi"), "-t", "1", "-pix_fmt", "yuv420p", bars],
                       stdin=subprocess.DEVNULL, check=True)
        return bars

    async def open(self):
        film = self.make_film()
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        self.log = open(os.path.join(self.folder, "chromium.log"), "wb")
        self.process = await asyncio.create_subprocess_exec(
            "chromium", *FLAGS, "--use-file-for-fake-video-capture=" + film,
            "--use-file-for-fake-audio-capture=" + os.path.join(self.media, "tone.wav"), "--user-data-dir=" + self.profile,
            "--remote-debugging-port=0", "about:blank", stdout=self.log, stderr=self.log, start_new_session=True)
        port = os.path.join(self.profile, "DevToolsActivePort")
        for _ in range(400):
            lines = open(port).read().split("\n") if os.path.exists(port) else []
            if len(lines) > 1:
                break
            await asyncio.sleep(0.1)
        await self.connect("ws://127.0.0.1:%s%s" % (lines[0], lines[1]))
        target = await self.send("Target.createTarget", {"url": "about:blank"})
        session = await self.send("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        self.session = session["sessionId"]
        await self.send("Page.enable")
        await self.send("Page.navigate", {"url": self.serve()})
        while not await self.evaluate("typeof gathered === 'function'"):
            await asyncio.sleep(0.1)
        await self.open_page()

    session = None

    async def send(self, method, parameters=None):
        message = {"method": method, "params": parameters or {}}
        if self.session:
            message["sessionId"] = self.session
        answer = await self.exchange(message)
        if "error" in answer:
            raise RuntimeError("%s: %s" % (method, answer["error"]))
        return answer["result"]

    async def evaluate(self, expression):
        result = await self.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description"))
        return result["result"].get("value")

    async def close(self):
        await self.keep_sound()
        self.session = None
        await self.send("Browser.close")
        await self.wait_closed()
