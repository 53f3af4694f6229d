"""Debian's linphonec 5.1, headless, driven over its standard input."""

import os
import re

from . import media
from .lab import wait_for
from .process import Process

CONFIGURATION = """\
[sip]
sip_port=5080
sip_tcp_port=5080
sip_tls_port=0
auto_net_state_mon=0
guess_hostname=0
contact="alice" <sip:alice@127.0.0.1:5080>
use_ipv6=0
media_encryption={encryption}
media_encryption_mandatory={mandatory}
use_info={info}
use_rfc2833={events}
delayed_timeout=4
register_only_when_network_is_up=0
ping_with_options=0
inc_timeout=60
sdp_200_ack={late}
[rtp]
audio_rtp_port=30078
video_rtp_port=30178
[net]
firewall_policy={firewall}
mtu=1300
[video]
enabled={video}
capture={video}
display={video}
automatically_initiate={offers}
automatically_accept={accepts}
self_view=0
show_local=0
device=StaticImage: Static picture
size=cif
displaytype=MSExtDisplay
[sound]
echocancellation=0
agc=0
[misc]
load_chat_rooms_from_db=0
enable_friend_list_subscription=0
[app]
auto_download_incoming_files_max_size=-1
"""

ACCOUNT = """\
[proxy_0]
reg_proxy=<sip:{server}>
reg_route=<sip:{server};lr>
reg_identity=sip:alice@{domain}
reg_expires=120
reg_sendregister=1
publish=0
avpf=0
dial_escape_plus=0
[auth_info_0]
username=alice
passwd=alicepw
realm={domain}
domain={domain}
"""

# As `codec list` of 5.1 numbers them.
CODECS = ["opus", "speex16", "speex8", "pcmu", "pcma", "gsm", "g722", "g729"]


class Linphone(Process):
    kind = "linphone"
    tone = media.LINPHONE_TONE
    address = "sip:alice@127.0.0.1:5080"
    offers_video_by_itself = False
    # It codes its still picture once a second.
    least_pictures = 2
    sends_while_holding = True

    def __init__(self, lab, video=False, srtp=False, codec="opus", offers_video=None, accepts_video=None, late_offer=False,
                 server=None, domain=None, dtls=False, ice=False, sends_info=False):
        folder = lab.path("linphone")
        for name in (".local/share/linphone", ".config/linphone", ".linphone-usr-crt"):
            os.makedirs(os.path.join(folder, name))
        self.folder = folder
        self.recordings = [os.path.join(folder, "received.wav")]
        number = {False: 0, True: 1}
        offers_video = video if offers_video is None else offers_video
        accepts_video = video if accepts_video is None else accepts_video
        if ice:
            lab.add_second_address()
        with open(os.path.join(folder, "rc"), "w") as file:
            file.write(CONFIGURATION.format(
                encryption="dtls" if dtls else "srtp" if srtp else "none", mandatory=number[srtp or dtls],
                late=number[late_offer], info=number[sends_info], events=number[not sends_info],
                firewall=3 if ice else 0,
                video=number[video], offers=number[offers_video], accepts=number[accepts_video]))
            if server:
                file.write(ACCOUNT.format(server=server, domain=domain))
        argv = ["linphonec", "-c", os.path.join(folder, "rc"), "-d", "6", "-l", os.path.join(folder, "linphone.log"), "-a"]
        if video:
            argv += ["-C", "-D"]
        home = {"HOME": folder, "XDG_DATA_HOME": folder + "/.local/share", "XDG_CONFIG_HOME": folder + "/.config"}
        super().__init__(lab, "linphone-log", argv, home)
        commands = ["soundcard use files", "play " + lab.medium("tone.wav"), "record " + self.recordings[0]]
        if video:
            commands += ["webcam use 0", "staticpic set " + lab.medium("bars.jpg"), "staticpic fps 10"]
        commands += ["codec %s %d" % ("enable" if name == codec else "disable", at) for at, name in enumerate(CODECS)]
        lab.need(wait_for(lambda: "linphonec>" in self.output, 20), "linphonec does not start: " + self.output[-300:])
        for line in commands:
            self.command(line)

    def command(self, line, seconds=5):
        """Gives a command and returns what came with its prompt."""
        before = len(self.output)
        self.write(line)
        wait_for(lambda: "linphonec>" in self.output[before:], seconds)
        return self.output[before:]

    # What every softphone can do.

    def call(self, address):
        self.command("call " + address)

    def hang_up(self):
        self.command("terminate")

    def hold(self):
        self.command("pause")

    def resume(self):
        self.command("resume 1")

    def send_digits(self, digits):
        for digit in digits:
            self.command(digit)

    def add_video(self):
        self.command("camera on")

    @property
    def digits(self):
        return "".join(re.findall(r"Receiving tone (.) from", self.output))

    def wait_established(self, seconds=10):
        return wait_for(lambda: re.search(r"Call \d+ with .* connected", self.output), seconds)

    def wait_ended(self, seconds=10):
        return wait_for(lambda: re.search(r"Call \d+ with .* ended", self.output), seconds)

    def snapshot(self):
        """A file with the newest decoded picture."""
        path = os.path.join(self.folder, "received.jpg")
        self.command("snapshot " + path)
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 0, 5)
        return path

    def stop(self, seconds=5):
        if self.is_running:
            self.write("quit")
            self.wait(seconds)
        super().stop()
