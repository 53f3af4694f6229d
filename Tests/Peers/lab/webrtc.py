"""WebRTC peers behind a small SIP user agent (`webrtc/peer.py`), and coturn."""

import glob
import json
import os
import shutil
import socket
import subprocess

from . import media
from .kamailio import issue_certificate, make_certificate
from .lab import wait_for
from .process import Process

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "webrtc")
# The interpreter that has aiortc and websockets; `run` makes it.
PYTHON = os.environ.get("OFFHOOK_PEERS_PYTHON", "")
# What has to be installed for a kind of peer.
PROGRAMS = {"chromium": "chromium", "firefox": "firefox-esr", "janus": "janus"}

def loopback_shim(folder):
    """A library that lets libnice take loopback for an interface like others."""
    path = os.path.join(folder, "loopback.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, os.path.join(FOLDER, "loopback.c"), "-ldl"], check=True, capture_output=True)
    return path


class WebRTCPeer(Process):
    tone = media.LINPHONE_TONE
    address = "sip:peer@127.0.0.1:5090"
    least_pictures = 10

    def __init__(self, lab, kind, video=False, turn=None, trickle=False):
        if not os.path.exists(PYTHON):
            lab.skip("there is no Python with aiortc and websockets")
        if kind in PROGRAMS and not shutil.which(PROGRAMS[kind]):
            lab.skip("there is no " + PROGRAMS[kind])
        # Nothing of a browser's is to be left in the user's folders.
        python, environment = PYTHON, {"HOME": lab.path(kind)}
        if kind.startswith("gstreamer"):
            # Its bindings are the system's.
            python = "/usr/bin/python3"
            if not glob.glob("/usr/lib/*/gstreamer-1.0/libgstwebrtc.so"):
                lab.skip("there is no webrtcbin of GStreamer")
            environment["LD_PRELOAD"] = loopback_shim(lab.folder)
        if kind == "firefox":
            # Its ICE leaves loopback out.
            lab.add_second_address("192.0.2.1")
        self.kind = kind
        self.folder = lab.path(kind)
        os.makedirs(self.folder)
        self.recordings = [os.path.join(self.folder, "received.wav")]
        argv = [python, os.path.join(FOLDER, "peer.py"), kind, self.folder, lab.media, "5090", video if isinstance(video, str) else "yes" if video else "no", "yes" if trickle else "no"]
        super().__init__(lab, kind + "-log", argv + ([turn] if turn else []), environment)
        lab.need(self.wait_for("ready", 90), "%s does not start: %s" % (kind, self.error[-300:]))

    @property
    def events(self):
        return [json.loads(line) for line in self.output.splitlines(True) if line.endswith("\n")]

    def named(self, name):
        return [event for event in self.events if event["event"] == name]

    def wait_for(self, name, seconds, count=1):
        wait_for(lambda: len(self.named(name)) >= count or self.named("failed") or not self.is_running, seconds)
        found = self.named(name)
        return found[-1] if len(found) >= count else None

    def need_event(self, name, seconds=20, count=1):
        return self.lab.need(
            self.wait_for(name, seconds, count), "%s tells no %s, only %s" % (self.kind, name, self.events[-3:]))

    # What every softphone can do.

    def call(self, address):
        self.write("call " + address)

    def hang_up(self):
        self.write("hangup")

    def wait_established(self, seconds=10):
        return self.wait_for("established", seconds)

    def wait_ended(self, seconds=10):
        """Its recording is whole from then on."""
        return self.wait_for("ended", seconds)

    def snapshot(self):
        before = len(self.named("snapshot"))
        self.write("snapshot")
        self.wait_for("snapshot", 10, before + 1)
        return os.path.join(self.folder, "received.png")

    def restart(self):
        """A new offer with new ICE credentials (RFC 8445 §9)."""
        self.change("restart")

    def change(self, what):
        """An offer in mid-call: `restart`, `stop_pictures` or `begin_pictures`."""
        before = len(self.named("changed"))
        self.write(what)
        self.need_event("changed", 20, before + 1)

    def figures(self):
        before = len(self.named("figures"))
        self.write("figures")
        return self.need_event("figures", 10, before + 1)


CONFIGURATION = """\
listening-ip=127.0.0.1
listening-ip=::1
relay-ip=127.0.0.1
relay-ip=::1
listening-port=3478
min-port=48000
max-port=49999
lt-cred-mech
fingerprint
realm=lab.test
user=alice:secret
allow-loopback-peers
no-cli
no-dtls
tls-listening-port=5349
cert={folder}/server.pem
pkey={folder}/server.key
no-multicast-peers
no-rfc5780
simple-log
log-file=stdout
pidfile={folder}/turnserver.pid
userdb={folder}/turndb
verbose
"""


class Coturn(Process):
    """On IPv4 and IPv6. Its certificate is for `names`, from an authority that another one, whose certificate is
    `authority`, vouches for."""

    def __init__(self, lab, names="IP:127.0.0.1,IP:::1"):
        if not shutil.which("turnserver"):
            lab.skip("there is no coturn")
        folder = lab.path("coturn")
        os.makedirs(folder)
        self.authority = make_certificate(folder, "root", "root", "DNS:root.test")
        between = issue_certificate(folder, self.authority, "between", "DNS:between.test", is_authority=True)
        with open(issue_certificate(folder, between, "server", names), "a") as chain, open(between) as file:
            chain.write(file.read())
        with open(os.path.join(folder, "turnserver.conf"), "w") as file:
            file.write(CONFIGURATION.format(folder=folder))
        super().__init__(lab, "coturn-log", ["turnserver", "-c", os.path.join(folder, "turnserver.conf")], folder=folder)

        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", 3478)) == 0
        lab.need(wait_for(answers, 10), "coturn does not start: " + self.output[-300:])
