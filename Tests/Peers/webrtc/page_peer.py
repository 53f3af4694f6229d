"""A browser's page as a peer (`peer.html`): what it is asked to do, whatever the browser is driven by."""

import asyncio
import base64
import functools
import http.server
import json
import os
import shutil
import signal
import subprocess
import threading

import websockets


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class PagePeer:
    """`evaluate` is the browser's own, as are its `process` and its `profile`."""

    # Whether descriptions go out without candidates, which follow.
    trickles = False
    # Whether the line of pictures is the first of an offer.
    has_pictures_first = False

    def __init__(self, folder, media, has_video, turn=None):
        self.folder, self.media, self.has_video, self.turn = folder, media, has_video, turn
        self.number = 0
        self.waiting = {}

    def serve(self):
        """The address of the page."""
        handler = functools.partial(Quiet, directory=os.path.dirname(os.path.abspath(__file__)))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return "http://127.0.0.1:%d/peer.html" % self.server.server_address[1]

    async def connect(self, address):
        self.socket = await websockets.connect(address, max_size=None, ping_interval=None, proxy=None)
        self.reader = asyncio.ensure_future(self.read())

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

    async def exchange(self, message):
        """Sends a command to the browser; its answer."""
        self.number += 1
        future = self.waiting[self.number] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self.number, **message}))
        return await asyncio.wait_for(future, 60)

    async def open_page(self, picture=None):
        """`picture` is the address of what is sent where the browser's camera cannot be told."""
        servers = [{"urls": self.turn["urls"], "username": self.turn["username"], "credential": self.turn["credential"]}] if self.turn else []
        await self.run("open", self.has_video, servers, bool(self.turn), picture)

    async def run(self, function, *arguments):
        return await self.evaluate("%s(%s)" % (function, ",".join(json.dumps(argument) for argument in arguments)))

    async def offer(self):
        return await self.run("offer", self.trickles, self.has_pictures_first)

    async def restart(self):
        return await self.run("restart")

    async def stop_pictures(self):
        return await self.run("stopPictures")

    async def begin_pictures(self):
        return await self.run("beginPictures")

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

    async def keep_sound(self):
        path = os.path.join(self.folder, "received.wav")
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", "-", "-ac", "1", path], input=base64.b64decode(await self.run("heard")))

    async def wait_closed(self):
        try:
            await asyncio.wait_for(self.process.wait(), 5)
        except asyncio.TimeoutError:
            os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
