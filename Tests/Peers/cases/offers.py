"""Offers in the 200 by either side, and video that one side does not want."""

import time

from . import calls
from .registry import add


def late_offer_by_offhook(kind, has_video):
    def body(lab):
        peer = calls.PEERS[kind](lab, video=has_video)
        program = calls.start(
            lab, peer, False, "--delayed-offer", "--video", "sendrecv" if has_video else "off", "--srtp", "off")
        snapshot = None
        if has_video:
            program.wait_for_channel("sendReceive")
            snapshot = calls.wait_for_picture(lab, peer)
        time.sleep(3)
        peer.hang_up()
        calls.check_summary(lab, program.finish(), peer, has_video=has_video)
        calls.check_sound(lab, peer, program)
        if has_video:
            calls.check_pictures(lab, program, snapshot)
    return body


def late_offer_by_linphone(mode):
    def body(lab):
        peer = calls.PEERS["linphone"](lab, video=mode is not None, late_offer=True)
        program = calls.start(lab, peer, True, "--video", mode or "off", "--srtp", "off")
        calls.check_incoming(lab, program, "indefinite")
        if mode == "sendrecv":
            program.wait_for_channel("sendReceive")
            snapshot = calls.wait_for_picture(lab, peer)
        elif mode == "recvonly":
            program.wait_for_channel("receiveOnly")
        time.sleep(4)
        peer.hang_up()
        summary = program.finish()
        if mode == "recvonly":
            lab.check(summary["video"]["received"]["frames"] >= peer.least_pictures, "too few pictures: %s" % summary["video"])
            lab.check(calls.picture.is_bars(program.picture), "the picture at offhook is not the colour bars")
        else:
            calls.check_summary(lab, summary, peer, has_video=mode is not None)
        calls.check_sound(lab, peer, program)
        if mode == "sendrecv":
            calls.check_pictures(lab, program, snapshot)
    return body


def video_refused_by_peer(kind):
    def body(lab):
        peer = calls.PEERS[kind](lab)
        program = calls.start(lab, peer, False, "--video", "sendrecv", "--duration", "4", "--srtp", "off")
        calls.check_summary(lab, program.finish(), peer)
        calls.check_sound(lab, peer, program)
        lab.check(not [c for c in program.channels or [] if c["enabled"]], "video is on: %s" % program.channels)
    return body


def video_refused_by_offhook(kind):
    def body(lab):
        peer = calls.PEERS[kind](lab, video=True)
        program = calls.start(lab, peer, True, "--video", "off", "--srtp", "off")
        calls.check_incoming(lab, program, "supported")
        time.sleep(3)
        peer.hang_up()
        calls.check_summary(lab, program.finish(), peer)
        calls.check_sound(lab, peer, program)
        lab.check(not [c for c in program.channels or [] if c["enabled"]], "video is on: %s" % program.channels)
    return body


for kind in calls.PEERS:
    add("offhook-calls-%s-late-offer" % kind, late_offer_by_offhook(kind, False))
    add("offhook-calls-%s-late-offer-vp8" % kind, late_offer_by_offhook(kind, True))
    add("offhook-calls-%s-video-refused" % kind, video_refused_by_peer(kind))
    add("%s-calls-offhook-video-refused" % kind, video_refused_by_offhook(kind))
for mode in (None, "recvonly", "sendrecv"):
    add("linphone-calls-offhook-late-offer" + ("-" + mode if mode else ""), late_offer_by_linphone(mode))
