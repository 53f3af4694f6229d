"""Debian's baresip 1.0, headless, driven over its ctrl_tcp module."""

import glob
import json
import os
import re
import socket
import subprocess
import threading
import time

from . import media
from .lab import wait_for
from .process import Process

CONFIGURATION = """\
poll_method epoll
sip_listen 127.0.0.1:5070
net_interface 127.0.0.1
call_local_timeout 120
call_max_calls 4
audio_player aubridge,sink
audio_source ausine,{tone}
audio_alert aubridge,alert
ausrc_srate 48000
ausrc_channels 2
audio_level no
ausrc_format s16
auplay_format s16
auenc_format s16
audec_format s16
video_source avformat,{clip}
video_display fakevideo,nil
video_size 320x240
video_bitrate 400000
video_fps 15.00
videnc_format yuv420p
rtp_tos 0
rtp_ports 20000-20100
rtcp_mux no
rtp_stats yes
jitter_buffer_delay 5-10
module_path {modules}
{loaded}
module_tmp account.so
module_app menu.so
module_app ctrl_tcp.so
ctrl_tcp_listen 127.0.0.1:4470
snd_path {folder}
ringback_disabled yes
opus_bitrate 32000
"""

CODECS = {"opus": "opus/48000/2", "pcmu": "pcmu/8000/1", "pcma": "pcma/8000/1"}


class Baresip(Process):
    kind = "baresip"
    tone = media.BARESIP_TONE
    address = "sip:bob@127.0.0.1:5070"
    offers_video_by_itself = True
    # In a call of a few seconds.
    least_pictures = 10
    sends_while_holding = False

    def __init__(self, lab, video=False, srtp=False, codec="opus", server=None, domain=None, dtls=False, ice=False):
        folder = lab.path("baresip")
        os.makedirs(folder)
        self.folder = folder
        listing = subprocess.run(["dpkg", "-L", "baresip-core"], capture_output=True, text=True, check=True).stdout
        modules = os.path.dirname(re.search(r"^.*/modules/opus\.so$", listing, re.M)[0])
        loaded = ["opus", "g711", "sndfile", "aubridge", "ausine", "srtp", "uuid"]
        if video:
            loaded += ["vp8", "fakevideo", "snapshot", "avformat", "swscale"]
        account = "<sip:bob@127.0.0.1:5070>;regint=0;answermode=auto;audio_codecs=" + CODECS[codec]
        if server:
            account = "<sip:bob@%s>;regint=60;auth_user=bob;auth_pass=bobpw;outbound=\"sip:%s\";answermode=auto;" % (
                domain, server) + "audio_codecs=" + CODECS[codec]
        if video:
            account += ";video_codecs=VP8"
        if srtp or dtls:
            account += ";mediaenc=" + ("dtls_srtp" if dtls else "srtp-mand")
        if dtls:
            loaded.append("dtls_srtp")
        if ice:
            loaded += ["stun", "turn", "ice"]
            account += ";medianat=ice"
            lab.add_second_address()
        self.put("config", CONFIGURATION.format(
            tone=self.tone, clip=lab.medium("bars.avi"), modules=modules, folder=folder,
            loaded="\n".join("module %s.so" % name for name in loaded)))
        self.put("accounts", account + "\n")
        self.put("contacts", "")
        # The file goes into a header as it is, so it must not end in a new line.
        self.put("uuid", "11111111-2222-3333-4444-000000000001")
        super().__init__(lab, "baresip-log", ["baresip", "-f", folder, "-v"], folder=folder)
        lab.need(wait_for(lambda: "baresip is ready" in self.output, 20), "baresip does not start: " + self.output[-300:])
        self.events = []
        self.answers = []
        self.control = socket.create_connection(("127.0.0.1", 4470), 5)
        self.control.settimeout(None)
        threading.Thread(target=self.listen, daemon=True).start()

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def listen(self):
        """Gathers events and answers, which come as netstrings."""
        data = b""
        while more := self.control.recv(65536):
            data += more
            while b":" in data:
                length, rest = data.split(b":", 1)
                if len(rest) <= int(length):
                    break
                message = json.loads(rest[:int(length)])
                (self.answers if message.get("response") else self.events).append(message)
                data = rest[int(length) + 1:]

    def command(self, name, argument=""):
        message = json.dumps({"command": name, "params": argument, "token": "1"}).encode()
        before = len(self.answers)
        self.control.sendall(b"%d:%s," % (len(message), message))
        return wait_for(lambda: self.answers[before:], 5)

    def has_event(self, kind, count=1):
        return sum(event.get("type") == kind for event in self.events) >= count

    # What every softphone can do.

    def call(self, address):
        self.command("dial", address)

    def hang_up(self):
        self.command("hangup")

    def hold(self):
        self.command("hold")

    def resume(self):
        self.command("resume")

    def add_video(self):
        """Its offer after a hold has everything that it can do, whatever the call had before."""
        self.hold()
        time.sleep(1)
        self.resume()

    def send_digits(self, digits):
        for digit in digits:
            self.command("sndcode", digit)
            # Each key is held until the next command.
            self.command("sndcode", "\x04")

    @property
    def digits(self):
        return "".join(event["param"] for event in self.events if event.get("type") == "CALL_DTMF_START")

    def wait_established(self, seconds=10):
        return wait_for(lambda: self.has_event("CALL_ESTABLISHED"), seconds)

    def wait_ended(self, seconds=10):
        return wait_for(lambda: self.has_event("CALL_CLOSED"), seconds)

    def snapshot(self):
        """A file with the newest decoded picture."""
        self.command("snapshot_recv", "received.png")
        path = os.path.join(self.folder, "received.png")
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 0, 5)
        return path

    @property
    def recordings(self):
        """Files with what it decoded; a change of the session may begin a new one."""
        return glob.glob(os.path.join(self.folder, "*-dec.wav"))
