"""Changes in the middle of a call: video added, hold, digits."""

import time

from lab.lab import wait_for

from . import calls
from .registry import add


def add_video_by_offhook(kind, is_caller):
    def body(lab):
        peer = calls.PEERS[kind](lab, video=True, **({} if kind == "baresip" else {"offers_video": False}))
        program = calls.start(lab, peer, is_caller, "--do", "1:video=sendrecv", "--srtp", "off")
        program.wait_for_channel("sendReceive", 15)
        snapshot = calls.wait_for_picture(lab, peer)
        time.sleep(3)
        peer.hang_up()
        summary = program.finish()
        calls.check_summary(lab, summary, peer, has_video=True)
        calls.check_sound(lab, peer, program)
        calls.check_pictures(lab, program, snapshot)
    return body


def add_video_by_peer(kind, is_caller):
    def body(lab):
        peer = calls.PEERS[kind](lab, video=True, **({} if kind == "baresip" else {"offers_video": False}))
        program = calls.start(lab, peer, is_caller, "--on-add-video", "accept=sendrecv", "--srtp", "off")
        # Baresip records nothing more once it has held.
        time.sleep(2)
        peer.add_video()
        program.need_event("didReceiveVideoAddRequest")
        program.wait_for_channel("sendReceive")
        snapshot = calls.wait_for_picture(lab, peer)
        time.sleep(4)
        peer.hang_up()
        calls.check_summary(lab, program.finish(), peer, has_video=True)
        calls.check_sound(lab, peer, program)
        calls.check_pictures(lab, program, snapshot)
    return body


def hold_by_offhook(kind, is_caller):
    def body(lab):
        peer = calls.PEERS[kind](lab)
        program = calls.start(lab, peer, is_caller, "--do", "2:hold,5:unhold", "--duration", "8", "--srtp", "off")
        program.need_event("callDidHold")
        program.need_event("callDidUnhold")
        calls.check_summary(lab, program.finish(20), peer)
        calls.check_sound(lab, peer, program)
        for way in ("sent", "received"):
            pause = program.longest_pause(way)
            lab.check(pause >= 1, "sound is %s while on hold: it pauses for %d s" % (way, pause))
    return body


def hold_by_peer(kind, is_caller):
    def body(lab):
        peer = calls.PEERS[kind](lab)
        program = calls.start(lab, peer, is_caller, "--duration", "10", "--srtp", "off")
        time.sleep(2)
        peer.hold()
        program.need_event("callDidHoldRemotely")
        time.sleep(2.5)
        peer.resume()
        program.need_event("callDidUnholdRemotely")
        calls.check_summary(lab, program.finish(20), peer)
        calls.check_sound(lab, peer, program)
        for way in ("sent",) if peer.sends_while_holding else ("sent", "received"):
            pause = program.longest_pause(way)
            lab.check(pause >= 1, "sound is %s while on hold: it pauses for %d s" % (way, pause))
    return body


def digits(kind, is_caller):
    def body(lab):
        peer = calls.PEERS[kind](lab)
        program = calls.start(lab, peer, is_caller, "--do", "1:dtmf=159#", "--duration", "8", "--srtp", "off")
        time.sleep(1)
        peer.send_digits("2580*")
        program.wait_for("didReceiveDTMF", 6, count=5)
        found = "".join(event["tone"] for event in program.named("didReceiveDTMF"))
        lab.check(found == "2580*", "offhook received the keys “%s”" % found)
        wait_for(lambda: len(peer.digits) >= 4, 5)
        lab.check(peer.digits == "159#", "%s received the keys “%s”" % (kind, peer.digits))
        calls.check_summary(lab, program.finish(20), peer)
    return body


def digits_by_info(lab):
    """A phone that sends its keys by INFO."""
    peer = calls.PEERS["linphone"](lab, sends_info=True)
    program = calls.start(lab, peer, True, "--duration", "6", "--srtp", "off")
    time.sleep(1)
    peer.send_digits("25*")
    program.wait_for("didReceiveDTMF", 5, count=3)
    found = "".join(event["tone"] for event in program.named("didReceiveDTMF"))
    lab.check(found == "25*", "offhook received the keys “%s”" % found)
    lab.check("INFO sip:" in program.trace, "no INFO came")
    calls.check_summary(lab, program.finish(20), peer)


add("linphone-calls-offhook-dtmf-by-info", digits_by_info)


for kind in calls.PEERS:
    for is_caller, name in [(False, "offhook-calls-" + kind), (True, kind + "-calls-offhook")]:
        if not (is_caller and calls.PEERS[kind].offers_video_by_itself):
            add(name + "-offhook-adds-video", add_video_by_offhook(kind, is_caller))
            add("%s-%s-adds-video" % (name, kind), add_video_by_peer(kind, is_caller))
        add(name + "-offhook-holds", hold_by_offhook(kind, is_caller))
        add("%s-%s-holds" % (name, kind), hold_by_peer(kind, is_caller))
        add(name + "-dtmf", digits(kind, is_caller))
