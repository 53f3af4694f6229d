"""Headless Firefox as a peer, driven over WebDriver BiDi."""

import asyncio
import base64
import json
import os
import re
import tempfile

from page_peer import PagePeer

PREFERENCES = {
    "media.navigator.permission.disabled": True,
    "media.navigator.streams.fake": True,
    "media.navigator.audio.fake_frequency": 880,
    # Sound and pictures play without a person's doing.
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    # Candidates are plain addresses, and ours may be loopback.
    "media.peerconnection.ice.loopback": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    # Loopback is network enough, and nobody is asked for a proxy.
    "network.manage-offline-status": False,
    "network.proxy.type": 0,
    "media.gmp-manager.updateEnabled": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


class FirefoxPeer(PagePeer):
    async def open(self):
        self.profile = tempfile.mkdtemp(prefix="firefox-")
        with open(os.path.join(self.profile, "user.js"), "w") as file:
            for name, value in PREFERENCES.items():
                file.write("user_pref(%s, %s);\n" % (json.dumps(name), json.dumps(value)))
        path = os.path.join(self.folder, "firefox.log")
        self.log = open(path, "wb")
        self.process = await asyncio.create_subprocess_exec(
            "firefox-esr", "--headless", "--no-remote", "--profile", self.profile, "--remote-debugging-port", "0",
            "about:blank", stdout=self.log, stderr=self.log, start_new_session=True)
        address = None
        for _ in range(400):
            with open(path, errors="replace") as file:
                address = re.search(r"WebDriver BiDi listening on (ws://\S+)", file.read())
            if address:
                break
            await asyncio.sleep(0.1)
        await self.connect(address[1] + "/session")
        await self.send("session.new", {"capabilities": {}})
        tree = await self.send("browsingContext.getTree", {})
        self.context = tree["contexts"][0]["context"]
        await self.send("browsingContext.navigate", {"context": self.context, "url": self.serve(), "wait": "complete"})
        with open(os.path.join(self.media, "bars.jpg"), "rb") as file:
            picture = "data:image/jpeg;base64," + base64.b64encode(file.read()).decode()
        await self.open_page(picture)

    async def send(self, method, parameters):
        answer = await self.exchange({"method": method, "params": parameters})
        if answer["type"] == "error":
            raise RuntimeError("%s: %s" % (method, answer["message"]))
        return answer["result"]

    async def evaluate(self, expression):
        # Values come with their types; JSON is plainer.
        result = await self.send("script.evaluate", {
            "expression": "Promise.resolve(%s).then(value => JSON.stringify(value ?? null))" % expression,
            "target": {"context": self.context}, "awaitPromise": True, "userActivation": True})
        if result["type"] == "exception":
            raise RuntimeError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    async def close(self):
        await self.keep_sound()
        await self.send("browser.close", {})
        await self.wait_closed()
