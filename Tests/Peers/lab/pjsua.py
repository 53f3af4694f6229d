"""A phone made of PJSUA2 (`pjsua/phone.py`): sound alone, G.711."""

import json
import os

from . import media
from .lab import wait_for
from .process import Process

# The interpreter that has PJSUA2; `run` makes it.
PYTHON = os.environ.get("OFFHOOK_PEERS_PJSUA", "")
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pjsua")


class Pjsua(Process):
    kind = "pjsua"
    tone = media.LINPHONE_TONE
    sends_while_holding = False

    def __init__(self, lab, security="none", ice=False, port=5084):
        if not os.path.exists(PYTHON):
            lab.skip("there is no Python with pjsua2")
        self.address = "sip:dave@127.0.0.1:%d" % port
        self.folder = lab.path("pjsua")
        os.makedirs(self.folder)
        self.recordings = [os.path.join(self.folder, "received.wav")]
        media_address = "127.0.0.1"
        if ice:
            # Its ICE leaves loopback out.
            media_address = "192.0.2.1"
            lab.add_second_address(media_address)
        argv = [PYTHON, os.path.join(FOLDER, "phone.py"), self.folder, lab.medium("tone.wav"), str(port), media_address, security,
                "yes" if ice else "no"]
        super().__init__(lab, "pjsua-log", argv)
        lab.need(self.wait_for("ready", 20), "pjsua does not start: %s" % self.error[-300:])

    @property
    def events(self):
        lines = [line for line in self.output.splitlines(True) if line.endswith("\n") and line.startswith("{")]
        return [json.loads(line) for line in lines]

    def named(self, name):
        return [event for event in self.events if event["event"] == name]

    def wait_for(self, name, seconds, count=1):
        wait_for(lambda: len(self.named(name)) >= count or not self.is_running, seconds)
        found = self.named(name)
        return found[-1] if len(found) >= count else None

    # What every softphone can do.

    def call(self, address):
        self.write("call " + address)

    def hang_up(self):
        self.write("hangup")

    def hold(self):
        self.write("hold")

    def resume(self):
        self.write("resume")

    def send_digits(self, digits):
        self.write("digits " + digits)

    def transfer(self, address):
        self.write("transfer " + address)

    @property
    def digits(self):
        return "".join(event["digit"] for event in self.named("digit"))

    def wait_established(self, seconds=10):
        return self.wait_for("established", seconds)

    def wait_ended(self, seconds=10):
        """Its recording is whole from then on."""
        ended = self.wait_for("ended", seconds)
        self.write("quit")
        self.wait(seconds)
        return ended
