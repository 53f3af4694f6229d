"""The SIPp scenarios against `offhook answer` and `offhook call`."""

from lab import picture, sound
from lab.media import OFFHOOK_TONE
from lab.offhook import Offhook
from lab.sipp import SIPp

from .registry import add


def sipp_calls(scenario, status, *arguments, video=None, established=True, exit_status=0):
    """SIPp calls; its echo brings offhook's own sound back."""
    def body(lab):
        program = Offhook.answering(lab, "--calls", "1", "--srtp", "off", *arguments)
        SIPp(lab, scenario, "127.0.0.1:5060", "-rtp_echo").finish()
        summary = program.finish(status=exit_status)
        event = program.need_event("didReceiveIncomingCall")
        lab.check(event["incomingVideoStatus"] == status, "the incoming video status is %s" % event["incomingVideoStatus"])
        lab.check(summary["established"] == established, "established: %s" % summary["established"])
        if established:
            check_echo(lab, program, summary, video)
        return program
    return body


def check_echo(lab, program, summary, video):
    heard = sound.seconds(program.sound, OFFHOOK_TONE)
    lab.check(heard >= 0.7, "offhook heard its echo for %.1f s only" % heard)
    if video == "sendReceive":
        lab.check(summary["video"]["received"]["frames"] >= 10, "too few pictures: %s" % summary["video"])
        lab.check(picture.pattern_number(program.picture) is not None, "the picture is not the own test pattern")
    found = [channel["negotiated"] for event in program.named("didUpdateVideoChannels")
             for channel in event["videoChannels"] if channel["enabled"]]
    if video:
        lab.check(video in found, "no channel was %s: %s" % (video, found))
    else:
        lab.check(not found, "video was on: %s" % found)


def upgrade(lab):
    """Audio, then video, then audio again."""
    sipp_calls("uac_upgrade", "off", "--on-add-video", "accept=sendrecv", video="sendReceive")(lab)
    with open(lab.path("offhook.out")) as file:
        lab.check('"disabledReason":"remoteUser"' in file.read(), "the end of the far end's video is not told")


def hold(lab):
    sipp_calls("uac_hold", "off")(lab)
    with open(lab.path("offhook.out")) as file:
        story = file.read()
    for event in ("callDidHoldRemotely", "callDidUnholdRemotely", "didReceiveDTMF"):
        lab.check('"%s"' % event in story, "offhook tells no " + event)


def options(lab):
    program = Offhook.answering(lab)
    SIPp(lab, "uac_options", "127.0.0.1:5060").finish()
    lab.check(not program.named("didReceiveIncomingCall"), "an OPTIONS is taken for a call")
    program.interrupt()
    program.finish(status=130)


def offhook_calls(scenario, *arguments, video=None, exit_status=0, reason=None):
    def body(lab):
        callee = SIPp(lab, scenario, "-rtp_echo")
        lab.need(callee.is_listening(), "SIPp does not listen")
        program = Offhook.calling(lab, callee.address, "--srtp", "off", *arguments)
        summary = program.finish(20, status=exit_status)
        callee.finish()
        if exit_status == 0:
            check_echo(lab, program, summary, video)
        if reason:
            lab.check(reason in str(program.need_event("callDidEnd")), "the reason is %s" % program.named("callDidEnd"))
    return body


def no_answer(lab):
    """Gives up while it rings."""
    callee = SIPp(lab, "uas_no_answer")
    lab.need(callee.is_listening(), "SIPp does not listen")
    program = Offhook.calling(lab, callee.address)
    program.need_event("callDidBeginRemoteAlerting")
    program.interrupt()
    program.finish(status=130)
    callee.finish()
    lab.check("cancelled" in str(program.named("callDidEnd")), "the reason is %s" % program.named("callDidEnd"))


add("sipp-uac-audio", sipp_calls("uac_audio", "off"))
add("sipp-uac-video0", sipp_calls("uac_video0", "off", "--video", "sendrecv"))
add("sipp-uac-video", sipp_calls("uac_video", "supported", "--video", "sendrecv", video="sendReceive"))
add("sipp-uac-video-sendonly",
    sipp_calls("uac_video_sendonly", "supported", "--video", "sendrecv", video="receiveOnly"))
add("sipp-uac-late-offer", sipp_calls("uac_late_offer", "indefinite", "--video", "recvonly"))
add("sipp-uac-late-offer-video",
    sipp_calls("uac_late_offer_video", "indefinite", "--video", "sendrecv", video="sendReceive"))
add("sipp-uac-late-reinvite", sipp_calls("uac_late_reinvite", "off"))
add("sipp-uac-upgrade", upgrade)
add("sipp-uac-hold", hold)
add("sipp-uac-cancel",
    sipp_calls("uac_cancel", "off", "--do", "30:accept", established=False, exit_status=4))
add("sipp-uac-options", options)
add("sipp-uac-rude", sipp_calls("uac_rude", "indefinite"))
add("sipp-uas-audio", offhook_calls("uas_audio", "--duration", "3"))
add("sipp-uas-video", offhook_calls("uas_video", "--video", "sendrecv", "--duration", "4", video="sendReceive"))
add("sipp-uas-video-refused", offhook_calls("uas_video_refused", "--video", "sendrecv", "--duration", "3"))
add("sipp-uas-untagged", offhook_calls("uas_untagged", "--duration", "3"))
add("sipp-uas-reject", offhook_calls("uas_reject", exit_status=4, reason="busy"))
add("sipp-uas-no-answer", no_answer)
add("sipp-uas-late-offer-rx",
    offhook_calls("uas_late_offer_rx", "--delayed-offer", "--video", "sendrecv", "--duration", "4", video="sendReceive"))
