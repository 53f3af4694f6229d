"""Calls with each codec, each way, plain and encrypted: sound and pictures are checked where they are decoded."""

import time

from lab.offhook import Offhook

from . import calls
from .registry import add

SECONDS = 3


def media_call(kind, is_caller, codec="opus", has_video=False, is_secure=False):
    def body(lab):
        peer = calls.PEERS[kind](lab, video=has_video, srtp=is_secure, codec=codec)
        arguments = ["--audio-codecs", codec, "--srtp", "sdes" if is_secure else "off"]
        arguments += ["--video", "sendrecv" if has_video else "off"]
        program = calls.start(lab, peer, is_caller, *arguments)
        if is_caller:
            calls.check_incoming(lab, program, "supported" if has_video else "off")
        snapshot = None
        if has_video:
            program.wait_for_channel("sendReceive")
            snapshot = calls.wait_for_picture(lab, peer)
        time.sleep(SECONDS)
        # Each side hangs up in some cases.
        if is_caller:
            peer.hang_up()
        else:
            program.interrupt()
        summary = program.finish(status=0 if is_caller else 130)
        lab.check(peer.wait_ended(), "%s does not see the end" % kind)
        calls.check_summary(lab, summary, peer, codec, is_secure, has_video)
        calls.check_sound(lab, peer, program)
        if has_video:
            calls.check_pictures(lab, program, snapshot)
    return body


def over_tcp(kind):
    """A call that is signalled over TCP with nobody in between."""
    def body(lab):
        peer = calls.PEERS[kind](lab)
        program = Offhook.calling(lab, peer.address + ";transport=tcp", "--srtp", "off", "--duration", "4")
        program.need_event("callDidEstablish", 15)
        calls.check_summary(lab, program.finish(20), peer, transports=("tcp",))
        calls.check_sound(lab, peer, program)
    return body


def security(ours, peer_demands, outcome):
    """Who demands encryption and who only likes it: calls come about, secured where both can, or fail with a word of why."""
    def body(lab):
        peer = calls.PEERS["baresip"](lab, srtp=peer_demands)
        program = Offhook.calling(lab, peer.address, "--srtp", ours, "--duration", "3")
        if outcome is None:
            lab.need(program.wait(15) is not None, "offhook does not end: " + program.story)
            lab.check(program.process.returncode == 4, "offhook ends with %d" % program.process.returncode)
            lab.check(not program.named("callDidEstablish"), "the call came about")
            lab.note(program.error.strip()[:120])
            return
        program.need_event("callDidEstablish", 15)
        calls.check_summary(lab, program.finish(15), peer, is_secure=outcome)
    return body


add("offhook-calls-baresip-best-srtp-demanded", security("best", True, True))
add("offhook-calls-baresip-best-srtp-unknown", security("best", False, False))
add("offhook-calls-baresip-sdes-srtp-unknown", security("sdes", False, None))
add("offhook-calls-baresip-off-srtp-demanded", security("off", True, None))

for kind in calls.PEERS:
    add("offhook-calls-%s-over-tcp" % kind, over_tcp(kind))
for kind in calls.PEERS:
    for is_caller, name in [(False, "offhook-calls-" + kind), (True, kind + "-calls-offhook")]:
        add(name + "-opus", media_call(kind, is_caller))
        add(name + "-pcmu", media_call(kind, is_caller, codec="pcmu"))
        add(name + "-pcma", media_call(kind, is_caller, codec="pcma"))
        add(name + "-opus-sdes", media_call(kind, is_caller, is_secure=True))
        add(name + "-opus-vp8", media_call(kind, is_caller, has_video=True))
        add(name + "-opus-vp8-sdes", media_call(kind, is_caller, has_video=True, is_secure=True))
