"""Janus' echo test as a peer: what it is sent comes back. It answers offers only."""

import asyncio
import glob
import json
import os
import signal
import subprocess

import websockets

PORT = 8188
CONFIGURATION = """\
general: {{
  configs_folder = "{folder}"
  plugins_folder = "{folder}/plugins"
  transports_folder = "{folder}/transports"
  events_folder = "{folder}/none"
  loggers_folder = "{folder}/none"
  debug_level = 4
}}
certificates: {{ cert_pem = "{folder}/cert.pem", cert_key = "{folder}/key.pem" }}
media: {{ ipv6 = false, rtp_port_range = "42000-43999" }}
nat: {{ nice_debug = false, ice_lite = false, ignore_mdns = true, ice_enforce_list = "127.0.0.1" }}
"""
TRANSPORT = """\
general: {{ json = "compact", ws = true, ws_ip = "127.0.0.1", ws_port = {port}, wss = false }}
admin: {{ admin_ws = false }}
"""


class JanusPeer:
    def __init__(self, folder, media, has_video, turn=None):
        self.folder, self.has_video = folder, has_video
        self.number = 0
        self.waiting = {}
        self.answers = asyncio.Queue()
        self.is_connected = asyncio.Event()

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    async def open(self):
        library = os.path.dirname(os.path.dirname(glob.glob("/usr/lib/*/janus/plugins/libjanus_echotest.so")[0]))
        for kind, name in (("plugins", "echotest"), ("transports", "websockets")):
            os.mkdir(os.path.join(self.folder, kind))
            file = "%s/libjanus_%s.so" % (kind, name)
            os.symlink(os.path.join(library, file), os.path.join(self.folder, file))
        os.mkdir(os.path.join(self.folder, "none"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
             "-subj", "/CN=janus", "-keyout", "key.pem", "-out", "cert.pem"], cwd=self.folder, check=True, capture_output=True)
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loopback.c")
        shim = os.path.join(self.folder, "loopback.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True, capture_output=True)
        self.put("janus.jcfg", CONFIGURATION.format(folder=self.folder))
        self.put("janus.transport.websockets.jcfg", TRANSPORT.format(port=PORT))
        self.put("janus.plugin.echotest.jcfg", "general: { }\n")
        self.log = open(os.path.join(self.folder, "janus.log"), "wb")
        # Should this program be killed, Janus goes with it.
        self.process = await asyncio.create_subprocess_exec(
            "setpriv", "--pdeathsig", "KILL", "janus", "-F", self.folder, "-C", self.folder + "/janus.jcfg", "-o", stdout=self.log, stderr=self.log,
            start_new_session=True, env={**os.environ, "LD_PRELOAD": shim})
        for _ in range(200):
            try:
                self.socket = await websockets.connect(
                    "ws://127.0.0.1:%d" % PORT, subprotocols=["janus-protocol"], max_size=None, proxy=None)
                break
            except OSError:
                await asyncio.sleep(0.1)
        self.reader = asyncio.ensure_future(self.read())
        self.names = {}
        self.names["session_id"] = (await self.request("create"))["data"]["id"]
        self.names["handle_id"] = (await self.request("attach", plugin="janus.plugin.echotest"))["data"]["id"]

    async def read(self):
        async for text in self.socket:
            message = json.loads(text)
            # An event has the name of its request too, and may come before its acknowledgement.
            if message["janus"] == "event":
                self.answers.put_nowait(message)
            elif message["janus"] == "webrtcup":
                self.is_connected.set()
            elif future := self.waiting.pop(message.get("transaction"), None):
                future.set_result(message)

    async def request(self, kind, **more):
        self.number += 1
        name = str(self.number)
        future = self.waiting[name] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"janus": kind, "transaction": name, **self.names, **more}))
        message = await asyncio.wait_for(future, 10)
        if message["janus"] == "error":
            raise RuntimeError(message["error"]["reason"])
        return message

    async def answer(self, offer):
        body = {"audio": True, "video": self.has_video}
        await self.request("message", body=body, jsep={"type": "offer", "sdp": offer, "trickle": False})
        while True:
            message = await asyncio.wait_for(self.answers.get(), 10)
            if "jsep" in message:
                return message["jsep"]["sdp"]

    async def connected(self):
        await asyncio.wait_for(self.is_connected.wait(), 15)

    async def snapshot(self):
        pass

    async def figures(self):
        return {}

    async def close(self):
        await self.socket.close()
        self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), 5)
        except asyncio.TimeoutError:
            os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()
