"""Calls with WebRTC peers: ICE, DTLS-SRTP, one transport for all (BUNDLE, rtcp-mux); sound and pictures both ways."""

import time

from lab.webrtc import WebRTCPeer

from . import calls
from .registry import add

OPTIONS = ["--ice", "on", "--srtp", "dtls"]


def webrtc_call(kind, is_caller, has_video, restarts=None):
    def body(lab):
        peer = WebRTCPeer(lab, kind, video=has_video)
        program = calls.start(lab, peer, is_caller, *OPTIONS, "--video", "sendrecv" if has_video else "off")
        connected = peer.need_event("connected")
        snapshot = None
        if has_video:
            program.wait_for_channel("sendReceive")
            snapshot = calls.wait_for_picture(lab, peer)
        calls.wait_for_sound(peer, program)
        if restarts:
            check_restart(lab, peer, program, restarts)
        if is_caller:
            peer.hang_up()
        else:
            program.interrupt()
        summary = program.finish(status=0 if is_caller else 130)
        lab.check(peer.wait_ended(), "%s does not see the end" % kind)
        check_summary(lab, summary, has_video)
        calls.check_sound(lab, peer, program)
        if has_video:
            calls.check_pictures(lab, program, snapshot)
        lab.note("%s connected after %d ms" % (kind, connected["milliseconds"]))
    return body


def check_restart(lab, peer, program, who):
    """New ways are found in mid-call, and media goes on by them."""
    before = peer.figures()
    if who == "peer":
        peer.restart()
    time.sleep(3)
    after = peer.figures()
    for what in ("sounds", "pictures"):
        lab.check(after[what] > before[what] + 20, "few %s came after the restart: %s, %s" % (what, before, after))


def check_summary(lab, summary, has_video):
    lab.check(summary["established"], "the summary says that the call was not up")
    for kind, codec in [("audio", "opus")] + ([("video", "VP8")] if has_video else []):
        for way in ("sent", "received"):
            stream = summary[kind][way]
            words = "%s %s: %s" % (kind, way, stream)
            lab.check((stream["codec"] or "").lower() == codec.lower(), "another codec in " + words)
            lab.check(stream["packets"] > 20, "nothing flowed in " + words)
            lab.check(stream["encrypted"], "nothing was encrypted in " + words)
            lab.check(stream["lost"] <= 0, "packets were lost in " + words)
            if kind == "video":
                lab.check(stream["frames"] >= 10, "too few pictures in " + words)
    lab.note("set-up %.0f ms" % summary["setupMilliseconds"])
    if has_video:
        video = summary["video"]
        lab.note("%d pictures out, %d in" % (video["sent"]["frames"], video["received"]["frames"]))


for kind in ("aiortc", "chromium"):
    for is_caller, name in [(False, "webrtc-offhook-calls-" + kind), (True, "webrtc-%s-calls-offhook" % kind)]:
        add(name, webrtc_call(kind, is_caller, False))
        add(name + "-vp8", webrtc_call(kind, is_caller, True))
add("webrtc-chromium-restarts-ice", webrtc_call("chromium", True, True, restarts="peer"))
