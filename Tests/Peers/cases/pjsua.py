"""Calls with PJSUA2: sound each way, digits, hold by either side, encryption, ICE, transfers."""

import time

from lab import sound
from lab.lab import wait_for
from lab.media import OFFHOOK_TONE
from lab.offhook import Offhook
from lab.pjsua import Pjsua

from . import calls
from .registry import add


def call(is_caller, security="none", ice=False):
    """One call in which both sides hold and press keys."""
    def body(lab):
        peer = Pjsua(lab, security, ice)
        script = "1:dtmf=159#,4:hold,6:unhold"
        options = ["--audio-codecs", "pcmu,pcma", "--srtp", {"none": "off"}.get(security, security), "--do", script]
        program = calls.start(lab, peer, is_caller, *options, *(["--ice", "on"] if ice else []))
        time.sleep(1)
        peer.send_digits("2580*")
        program.wait_for("didReceiveDTMF", 8, count=5)
        found = "".join(event["tone"] for event in program.named("didReceiveDTMF"))
        lab.check(found == "2580*", "offhook received the keys “%s”" % found)
        wait_for(lambda: len(peer.digits) >= 4, 5)
        lab.check(peer.digits == "159#", "pjsua received the keys “%s”" % peer.digits)
        program.need_event("callDidHold")
        program.need_event("callDidUnhold")
        peer.hold()
        program.need_event("callDidHoldRemotely")
        time.sleep(1.5)
        peer.resume()
        program.need_event("callDidUnholdRemotely")
        calls.wait_for_sound(peer, program, least=4)
        if is_caller:
            peer.hang_up()
        else:
            program.interrupt()
        summary = program.finish(status=0 if is_caller else 130)
        lab.check(peer.wait_ended(), "pjsua does not see the end")
        calls.check_summary(lab, summary, peer, codec="pcmu", is_secure=security != "none")
        calls.check_sound(lab, peer, program, least=3)
    return body


add("offhook-calls-pjsua-ice-sdes", call(False, "sdes", ice=True))
add("pjsua-calls-offhook", call(True))


def transfer(is_ours):
    """One of the two in a call sends the other to carol."""
    def body(lab):
        peer = Pjsua(lab)
        carol = Offhook.answering(lab, "--calls", "1", "--srtp", "off", name="carol", port=5062)
        address = "sip:carol@127.0.0.1:5062"
        options = ["--do", "2:transfer=" + address] if is_ours else []
        program = calls.start(lab, peer, True, "--srtp", "off", *options)
        if not is_ours:
            time.sleep(1.5)
            peer.transfer(address)
        carol.need_event("callDidEstablish", 15)
        tone = peer.tone if is_ours else OFFHOOK_TONE
        wait_for(lambda: sound.seconds(carol.sound, tone) >= 2, 15, 0.5)
        carol.interrupt()
        carol.finish(status=130)
        heard = sound.seconds(carol.sound, tone)
        lab.check(heard >= 1.5, "carol heard the other for %.1f s only" % heard)
        if is_ours:
            lab.need(program.wait(10) is not None, "offhook does not end: " + program.story)
            reason = program.need_event("callDidEnd")["reason"]
            lab.check(reason == "transferred", "offhook's call ends as " + reason)
        else:
            told = [event["status"] for event in peer.named("transferred")]
            lab.check(told and told[-1] == 200, "pjsua is told %s" % told)
    return body


add("pjsua-calls-offhook-is-transferred", transfer(True))
add("pjsua-calls-offhook-transfers", transfer(False))
