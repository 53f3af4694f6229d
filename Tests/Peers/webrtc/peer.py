"""peer.py KIND FOLDER MEDIA PORT VIDEO TRICKLE [TURN]: a WebRTC peer behind a small SIP user agent.

It answers the first call that comes in. VIDEO is yes, no, or first, for offers that begin with it. What it is told on its standard
input: `call ADDRESS`, `snapshot`, `restart`, `stop_pictures`, `begin_pictures`, `figures` and `hangup`. It prints one JSON object a
line: ready, established, connected, snapshot, changed, figures, ended, failed.
"""

import asyncio
import json
import sys
import time

from sip import SIPAgent


def tell(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


async def lines():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line.decode().split()


def keep(folder, name, text):
    with open("%s/%s.sdp" % (folder, name), "w", newline="") as file:
        file.write(text)
    return text


class Peer:
    def __init__(self, kind, folder, media, port, video, trickle, turn):
        servers = {"urls": turn, "username": "alice", "credential": "secret"} if turn else None
        self.folder = folder
        if kind in ("gstreamer", "gstreamer-bundle"):
            from gstreamer_peer import GStreamerPeer
            self.end = GStreamerPeer(folder, video == "yes", kind == "gstreamer-bundle")
        else:
            if kind == "aiortc":
                from aiortc_peer import AiortcPeer as End
            elif kind == "janus":
                from janus_peer import JanusPeer as End
            elif kind == "firefox":
                from firefox_peer import FirefoxPeer as End
            else:
                from chromium_peer import ChromiumPeer as End
            self.end = End(folder, media, video != "no", servers)
            if video == "first":
                self.end.has_pictures_first = True
        self.agent = SIPAgent(int(port))
        self.agent.on_offer = self.end.answer
        if trickle == "yes":
            self.end.trickles = True
            self.agent.on_candidates = self.take_candidates

    async def run(self):
        await self.end.open()
        await self.agent.open()
        tell("ready")
        tasks = [asyncio.ensure_future(task) for task in (self.answer(), self.obey(), self.agent.is_ended.wait())]
        await asyncio.wait([tasks[2]])
        await asyncio.sleep(0.2)
        tell("figures", **await self.end.figures())
        await self.end.close()
        tell("ended")
        for task in tasks:
            task.cancel()

    async def up(self, begin):
        tell("established")
        try:
            await self.end.connected()
        except Exception as error:
            return tell("failed", reason=str(error) or type(error).__name__)
        tell("connected", milliseconds=round((time.monotonic() - begin) * 1000))

    async def answer(self):
        message = await self.agent.incoming()
        begin = time.monotonic()
        try:
            answer = await self.end.answer(keep(self.folder, "offer", message.body))
            await self.agent.accept(message, keep(self.folder, "answer", answer))
        except Exception as error:
            self.agent.answer(message, 500, "Server Internal Error")
            return tell("failed", reason="answer: %s" % (str(error) or type(error).__name__))
        await self.tell_candidates()
        await self.up(begin)

    async def call(self, address):
        offer = keep(self.folder, "offer", await self.end.offer())
        begin = time.monotonic()
        await self.end.accept(keep(self.folder, "answer", await self.agent.call(address, offer)))
        await self.tell_candidates()
        await self.up(begin)

    async def tell_candidates(self):
        """Descriptions went out without any: they follow, one INFO after another, each with all so far (RFC 8840 §4.4)."""
        if not self.agent.on_candidates:
            return
        told = None
        while told is None or "a=end-of-candidates" not in told:
            fragment = await self.end.candidates()
            if fragment != told:
                await self.agent.tell_candidates(fragment)
                told = fragment
                tell("told", candidates=fragment.count("a=candidate"))
            else:
                await asyncio.sleep(0.02)

    async def take_candidates(self, fragment):
        keep(self.folder, "fragment", fragment)
        await self.end.add_candidates(fragment)
        tell("candidates", number=fragment.count("a=candidate"), complete="a=end-of-candidates" in fragment)

    async def obey(self):
        async for word, *arguments in lines():
            try:
                if word == "call":
                    await self.call(arguments[0])
                elif word == "snapshot":
                    await self.end.snapshot()
                    tell("snapshot")
                elif word in ("restart", "stop_pictures", "begin_pictures"):
                    offer = keep(self.folder, word + "-offer", await getattr(self.end, word)())
                    await self.end.accept(keep(self.folder, word + "-answer", await self.agent.offer(offer)))
                    tell("changed", what=word)
                elif word == "figures":
                    tell("figures", **await self.end.figures())
                elif word == "hangup":
                    await self.agent.hang_up()
            except Exception as error:
                tell("failed", reason="%s: %s" % (word, str(error) or type(error).__name__))


asyncio.run(Peer(*(sys.argv[1:] + [None])[:7]).run())
