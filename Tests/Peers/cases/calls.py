"""What cases with a softphone have in common."""

import time

from lab import picture, sound
from lab.baresip import Baresip
from lab.lab import wait_for
from lab.linphone import Linphone
from lab.media import OFFHOOK_TONE
from lab.offhook import ADDRESS, Offhook

PEERS = {"baresip": Baresip, "linphone": Linphone}

CODEC_NAMES = {"opus": "opus", "pcmu": "PCMU", "pcma": "PCMA"}


def start(lab, peer, is_caller, *arguments):
    """Brings up a call between `offhook` and a peer, and returns the program."""
    if is_caller:
        program = Offhook.answering(lab, "--calls", "1", *arguments)
        peer.call(ADDRESS)
    else:
        program = Offhook.calling(lab, peer.address, *arguments)
    program.need_event("callDidEstablish", 30)
    lab.need(peer.wait_established(15), "%s does not see the call up" % peer.kind)
    return program


def check_sound(lab, peer, program, least=0.8):
    """Each end has recorded the other's tone."""
    heard = sound.seconds(program.sound, peer.tone)
    lab.check(heard >= least, "offhook heard %s for %.1f s only" % (peer.kind, heard))
    heard = sum(sound.seconds(path, OFFHOOK_TONE) for path in peer.recordings)
    lab.check(heard >= least, "%s heard offhook for %.1f s only" % (peer.kind, heard))


def wait_for_sound(peer, program, least=2.0, limit=15):
    """Waits until the peer's tone was heard for long enough, which takes longer on a busy machine."""
    wait_for(lambda: sound.seconds(program.sound, peer.tone) >= least, limit, 0.5)


def check_pictures(lab, program, snapshot):
    """Each end has decoded the other's picture."""
    lab.check(picture.is_bars(program.picture), "the picture at offhook is not the colour bars")
    number = picture.pattern_number(snapshot)
    lab.check(number is not None, "the picture at the peer is not offhook's test pattern")


def wait_for_picture(lab, peer):
    """A snapshot at the peer with our pattern in it."""
    for _ in range(8):
        path = peer.snapshot()
        if picture.pattern_number(path) is not None:
            return path
        time.sleep(0.5)
    return path


def check_summary(lab, summary, peer, codec="opus", is_secure=False, has_video=False, transports=("udp", "tcp")):
    """What the last line tells about the media."""
    lab.check(summary["established"], "the summary says that the call was not up")
    kinds = [("audio", CODEC_NAMES[codec])] + ([("video", "VP8")] if has_video else [])
    for kind, name in kinds:
        for way in ("sent", "received"):
            stream = summary[kind][way]
            words = "%s %s: %s" % (kind, way, stream)
            lab.check((stream["codec"] or "").lower() == name.lower(), "another codec in " + words)
            lab.check(stream["packets"] > 3 and stream["bytes"] > 1000, "nothing flowed in " + words)
            # Fewer than none where packets came twice: linphone repeats the end of a digit so.
            lab.check(stream["lost"] <= 0, "packets were lost in " + words)
            lab.check(bool(stream["encrypted"]) == is_secure, "wrong encryption in " + words)
            if kind == "video":
                lab.check(stream["frames"] >= (peer.least_pictures if way == "received" else 10), "too few pictures in " + words)
    sent = summary["audio"]["sent"]
    lab.check(sent["frames"] > 0.8 * sent["packets"], "not all sound is counted: %s" % sent)
    if not has_video:
        lab.check(summary["video"]["received"]["packets"] == 0, "video came: %s" % summary["video"])
    # A request too long for a datagram goes by TCP (RFC 3261 §18.1.1).
    lab.check(summary["transport"] in transports, "the transport is %s" % summary["transport"])
    lab.note("set-up %.0f ms" % summary["setupMilliseconds"])
    if has_video:
        video = summary["video"]
        lab.note("%d pictures out, %d in" % (video["sent"]["frames"], video["received"]["frames"]))


def check_incoming(lab, program, status):
    event = program.need_event("didReceiveIncomingCall")
    found = event["incomingVideoStatus"]
    lab.check(found == status, "the incoming video status is %s, not %s" % (found, status))
