"""Headless Chromium as a peer, driven over its DevTools protocol."""

import asyncio
import base64
import functools
import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import wave

import websockets

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


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class ChromiumPeer:
    def __init__(self, folder, media, has_video, turn=None):
        self.folder, self.media, self.has_video, self.turn = folder, media, has_video, turn
        self.number = 0
        self.waiting = {}

    def make_film(self):
        """What the camera sees."""
        bars = os.path.join(self.folder, "bars.y4m")
        subprocess.run(["ffmpeg", "-v", "error", "-i", os.path.join(self.media, "bars.avi"), "-t", "1", "-pix_fmt", "yuv420p", bars],
                       stdin=subprocess.DEVNULL, check=True)
        return bars

    async def open(self):
        film = self.make_film()
        handler = functools.partial(Quiet, directory=os.path.dirname(os.path.abspath(__file__)))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
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
        self.socket = await websockets.connect(
            "ws://127.0.0.1:%s%s" % (lines[0], lines[1]), max_size=None, ping_interval=None, proxy=None)
        self.reader = asyncio.ensure_future(self.read())
        target = await self.send("Target.createTarget", {"url": "about:blank"})
        session = await self.send("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        self.session = session["sessionId"]
        await self.send("Page.enable")
        await self.send("Page.navigate", {"url": "http://127.0.0.1:%d/peer.html" % self.server.server_address[1]})
        while not await self.evaluate("typeof gathered === 'function'"):
            await asyncio.sleep(0.1)
        servers = [{"urls": self.turn["urls"], "username": self.turn["username"], "credential": self.turn["credential"]}] if self.turn else []
        await self.run("open", self.has_video, servers, bool(self.turn))

    session = None

    async def read(self):
        try:
            async for text in self.socket:
                message = json.loads(text)
                future = self.waiting.pop(message.get("id"), None)
                if future and not future.done():
                    future.set_result(message)
        except websockets.ConnectionClosed:
            # The browser has ended.
            pass

    async def send(self, method, parameters=None):
        self.number += 1
        future = self.waiting[self.number] = asyncio.get_running_loop().create_future()
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if self.session:
            message["sessionId"] = self.session
        await self.socket.send(json.dumps(message))
        answer = await asyncio.wait_for(future, 30)
        if "error" in answer:
            raise RuntimeError("%s: %s" % (method, answer["error"]))
        return answer["result"]

    async def evaluate(self, expression):
        result = await self.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description"))
        return result["result"].get("value")

    async def run(self, function, *arguments):
        return await self.evaluate("%s(%s)" % (function, ",".join(json.dumps(argument) for argument in arguments)))

    # Whether descriptions go out without candidates, which follow.
    trickles = False

    async def offer(self):
        return await self.run("offer", self.trickles)

    async def restart(self):
        return await self.run("restart")

    async def accept(self, answer):
        await self.run("accept", answer)

    async def answer(self, offer):
        return await self.run("answer", offer, self.trickles)

    async def candidates(self):
        return await self.run("candidates")

    async def add_candidates(self, fragment):
        await self.run("addCandidates", fragment)

    async def connected(self):
        await self.run("connected")

    async def snapshot(self):
        if picture := await self.run("seen"):
            with open(os.path.join(self.folder, "received.png"), "wb") as file:
                file.write(base64.b64decode(picture))

    async def figures(self):
        return await self.run("figures")

    async def close(self):
        with wave.open(os.path.join(self.folder, "received.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(48000)
            file.writeframes(base64.b64decode(await self.run("heard")))
        self.session = None
        await self.send("Browser.close")
        try:
            await asyncio.wait_for(self.process.wait(), 5)
        except asyncio.TimeoutError:
            os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
