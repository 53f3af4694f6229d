"""Calls with each codec, each way, plain and encrypted: sound and pictures are checked where they are decoded."""

import time

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


for kind in calls.PEERS:
    for is_caller, name in [(False, "offhook-calls-" + kind), (True, kind + "-calls-offhook")]:
        add(name + "-opus", media_call(kind, is_caller))
        add(name + "-pcmu", media_call(kind, is_caller, codec="pcmu"))
        add(name + "-pcma", media_call(kind, is_caller, codec="pcma"))
        add(name + "-opus-sdes", media_call(kind, is_caller, is_secure=True))
        add(name + "-opus-vp8", media_call(kind, is_caller, has_video=True))
        add(name + "-opus-vp8-sdes", media_call(kind, is_caller, has_video=True, is_secure=True))
