"""Calls with WebRTC peers: ICE, DTLS-SRTP, one transport for all (BUNDLE, rtcp-mux); sound and pictures both ways."""

import json
import os
import re
import time

from lab import picture, sound
from lab.lab import wait_for
from lab.media import OFFHOOK_TONE
from lab.offhook import Offhook
from lab.webrtc import Coturn, WebRTCPeer

from . import calls
from .registry import add

OPTIONS = ["--ice", "on", "--srtp", "dtls"]
SERVER = "127.0.0.1:3478"
LOGIN = ["--auth-user", "alice", "--password-env", "OFFHOOK_RELAY_PASSWORD"]
RELAY = ["--turn", "turn:" + SERVER, *LOGIN]


def webrtc_call(kind, is_caller, has_video, restarts=None, trickle=False):
    def body(lab):
        peer = WebRTCPeer(lab, kind, video=has_video, trickle=trickle)
        script = ["--do", "4:restart-ice"] if restarts == "offhook" else []
        # A server that does not answer keeps our candidates incomplete for five seconds.
        script += ["--stun", "127.0.0.1:9"] if trickle else []
        program = calls.start(
            lab, peer, is_caller, *OPTIONS, *script, "--video", "sendrecv" if has_video else "off")
        connected = peer.need_event("connected")
        snapshot = None
        if has_video:
            program.wait_for_channel("sendReceive")
            snapshot = calls.wait_for_picture(lab, peer)
        calls.wait_for_sound(peer, program)
        if trickle:
            check_trickle(lab, peer, program, is_caller)
        if restarts:
            check_restart(lab, peer, program, restarts)
        if is_caller:
            peer.hang_up()
        else:
            program.interrupt()
        summary = program.finish(status=0 if is_caller else 130)
        lab.check(peer.wait_ended(), "%s does not see the end" % kind)
        # Firefox closes the old way as soon as there is a new one: what is under way by then is lost.
        check_summary(lab, summary, has_video, most_lost=10 if restarts == "peer" else 0)
        calls.check_sound(lab, peer, program)
        if has_video:
            calls.check_pictures(lab, program, snapshot)
        lab.note("%s connected after %d ms" % (kind, connected["milliseconds"]))
    return body


def stopped_pictures(kind):
    """The line that the bundle began with is stopped, and used again: Chromium begins its transport anew each time."""
    def body(lab):
        peer = WebRTCPeer(lab, kind, video="first")
        program = calls.start(
            lab, peer, True, *OPTIONS, "--video", "sendrecv", "--on-add-video", "accept=sendrecv")
        peer.need_event("connected")
        program.wait_for_channel("sendReceive")
        calls.wait_for_sound(peer, program)
        lab.check(described(peer, "offer", r"m=(\S+)")[0] == "video", "the first offer does not begin with video")
        peer.change("stop_pictures")
        check_flow(lab, peer, ["sounds"])
        peer.change("begin_pictures")
        check_flow(lab, peer, ["sounds", "pictures"])
        snapshot = calls.wait_for_picture(lab, peer)
        peer.hang_up()
        program.finish(status=0)
        lab.check(peer.wait_ended(), "%s does not see the end" % kind)
        calls.check_pictures(lab, program, snapshot)
    return body


def described(peer, name, pattern):
    """What a description of the peer's has of a pattern."""
    with open(os.path.join(peer.folder, name + ".sdp")) as file:
        return re.findall(pattern, file.read())


def check_flow(lab, peer, kinds):
    before = peer.figures()
    time.sleep(3)
    after = peer.figures()
    for what in kinds:
        lab.check((after.get(what) or 0) > (before.get(what) or 0) + 20, "few %s came: %s, %s" % (what, before, after))


def softphone_call(kind, is_caller, ice):
    """ICE and DTLS with softphones: RTCP has its own port, and each line its own transport."""
    def body(lab):
        peer = calls.PEERS[kind](lab, video=True, dtls=True, ice=ice)
        program = calls.start(lab, peer, is_caller, "--ice", "on", "--srtp", "dtls", "--video", "sendrecv")
        program.wait_for_channel("sendReceive")
        snapshot = calls.wait_for_picture(lab, peer)
        wait_for(lambda: picture.is_bars(program.picture), 10, 0.5)
        calls.wait_for_sound(peer, program)
        if is_caller:
            peer.hang_up()
        else:
            program.interrupt()
        summary = program.finish(status=0 if is_caller else 130)
        lab.check(peer.wait_ended(), "%s does not see the end" % kind)
        check_summary(lab, summary, True, least=peer.least_pictures)
        calls.check_sound(lab, peer, program)
        calls.check_pictures(lab, program, snapshot)
        if kind == "linphone" and ice and not is_caller:
            offers = [part for part in program.trace.split("--- ") if " sent to " in part and "\nINVITE " in part]
            groups = ["a=group:BUNDLE" in offer for offer in offers]
            lab.check(groups == [True, False], "the offers with a bundle are %s" % groups)
    return body


def relayed_call(options, is_relayed, by="UDP", address="127.0.0.1"):
    """Two programs of our own that ask coturn; between them there is a way without it."""
    def body(lab):
        server = Coturn(lab)
        os.environ["OFFHOOK_RELAY_PASSWORD"] = "secret"
        trust = ["--tls-ca", server.authority] if by == "TLS" else []
        call(lab, [*options, *trust], is_relayed)
        # Candidates cannot show how the server was reached; its log does. One connection was ours, to see it up.
        connections = server.output.count("tcp or tls connected") - 1
        lab.check((connections > 0) == (by != "UDP"), "coturn had %d connections" % connections)

    def call(lab, options, is_relayed):
        callee = Offhook.answering(
            lab, "--calls", "1", *OPTIONS, *options, "--video", "sendrecv", name="callee", port=5062, bind=address)
        caller = Offhook.calling(
            lab, "sip:offhook@%s:5062" % address, *OPTIONS, *options, "--video", "sendrecv", bind=address)
        for program in (caller, callee):
            program.need_event("callDidEstablish", 20)
            program.wait_for_channel("sendReceive")
        wait_for(lambda: all(sound.seconds(p.sound, OFFHOOK_TONE) >= 2 for p in (caller, callee)), 15, 0.5)
        time.sleep(2)
        caller.interrupt()
        found_kinds = {"relay"} if is_relayed else {"host", "relay"} if "--turn" in options else {"host"}
        for program, status in ((caller, 130), (callee, 0)):
            check_summary(lab, program.finish(status=status), True)
            heard = sound.seconds(program.sound, OFFHOOK_TONE)
            lab.check(heard >= 1.5, "%s heard the other for %.1f s only" % (program.name, heard))
            lab.check(picture.pattern_number(program.picture) is not None, "the picture at %s is not the pattern" % program.name)
            with open(program.statistics) as file:
                found = [json.loads(line)["audio"]["sent"]["relayed"] for line in file]
            lab.check(found and found[-1] == is_relayed, "%s: relayed is %s" % (program.name, found))
            kinds = set(re.findall(r"a=candidate:.* typ (\w+)", program.trace))
            lab.check(kinds == found_kinds, "the candidates are %s" % kinds)
            own = set(re.findall(r"a=candidate:\S+ \d UDP \d+ (\S+) ", program.trace, re.IGNORECASE))
            lab.check(own == {address.strip("[]")}, "the candidates' addresses are %s" % own)
            lab.check("a=end-of-candidates" in program.trace, "%s did not hear from the server" % program.name)
    return body


def misnamed_relay(lab):
    """A TLS server whose certificate is for somebody else is not given the password; the call goes without it."""
    server = Coturn(lab, "DNS:elsewhere.test")
    os.environ["OFFHOOK_RELAY_PASSWORD"] = "secret"
    options = [*OPTIONS, "--turn", "turns:127.0.0.1:5349", *LOGIN, "--tls-ca", server.authority]
    callee = Offhook.answering(lab, "--calls", "1", *OPTIONS, name="callee", port=5062)
    caller = Offhook.calling(lab, "sip:offhook@127.0.0.1:5062", *options)
    for program in (caller, callee):
        program.need_event("callDidEstablish", 20)
    wait_for(lambda: sound.seconds(caller.sound, OFFHOOK_TONE) >= 1, 10, 0.5)
    caller.interrupt()
    caller.finish(status=130)
    callee.finish(status=0)
    lab.check(
        "TURN server cannot be used" in caller.error and "elsewhere.test" in caller.error,
        "what is wrong with the certificate is not told: " + caller.error[-300:])
    lab.check("relay" not in re.findall(r"a=candidate:.* typ (\w+)", caller.trace), "a relay was used")
    lab.check("tcp or tls connected" in server.output.replace("TCP", "tcp"), "the server was not asked at all")
    lab.check("ALLOCATE" not in server.output, "the server was told the name and asked for a relay")


def echo_call(lab):
    """Janus sends back what it is sent: the program hears and sees itself."""
    peer = WebRTCPeer(lab, "janus", video=True)
    program = calls.start(lab, peer, False, *OPTIONS, "--video", "sendrecv")
    connected = peer.need_event("connected")
    program.wait_for_channel("sendReceive")
    wait_for(lambda: sound.seconds(program.sound, OFFHOOK_TONE) >= 2, 15, 0.5)
    wait_for(lambda: picture.pattern_number(program.picture) is not None, 10, 0.5)
    program.interrupt()
    check_summary(lab, program.finish(status=130), True)
    heard = sound.seconds(program.sound, OFFHOOK_TONE)
    lab.check(heard >= 1.5, "the echo was heard for %.1f s only" % heard)
    lab.check(picture.pattern_number(program.picture) is not None, "the picture is not offhook's test pattern")
    lab.note("janus connected after %d ms" % connected["milliseconds"])


def check_restart(lab, peer, program, who):
    """New ways are found in mid-call, and media goes on by them."""
    before = peer.figures()
    if who == "peer":
        peer.restart()
    else:
        # The program's script does it: the offer comes with other credentials than the first.
        lab.need(wait_for(lambda: len(set(re.findall(r"a=ice-ufrag:(\S+)", program.sent_descriptions))) >= 2, 15),
                 "offhook offers no new credentials")
    time.sleep(3)
    after = peer.figures()
    for what in ("sounds", "pictures"):
        lab.check(after[what] > before[what] + 20, "few %s came after the restart: %s, %s" % (what, before, after))


def check_trickle(lab, peer, program, is_caller):
    """The peer's candidates came by INFO alone, and ours that no description told as well."""
    told = peer.need_event("told")
    lab.check(told["candidates"] > 0, "the peer told no candidate")
    name = "offer" if is_caller else "answer"
    with open(os.path.join(peer.folder, name + ".sdp")) as file:
        lab.check("a=candidate" not in file.read(), "the peer's %s has candidates" % name)
    trace = program.trace
    lab.check("Recv-Info: trickle-ice" in trace, "offhook does not say that it takes candidates")
    lab.check("Info-Package: trickle-ice" in trace, "no INFO with candidates came")
    lab.check(wait_for(lambda: any(event["complete"] for event in peer.named("candidates")), 15),
              "offhook's candidates do not end by INFO: %s" % peer.named("candidates"))
    lab.note("%d candidates by INFO" % told["candidates"])


def check_summary(lab, summary, has_video, least=10, most_lost=0):
    lab.check(summary["established"], "the summary says that the call was not up")
    for kind, codec in [("audio", "opus")] + ([("video", "VP8")] if has_video else []):
        for way in ("sent", "received"):
            stream = summary[kind][way]
            words = "%s %s: %s" % (kind, way, stream)
            lab.check((stream["codec"] or "").lower() == codec.lower(), "another codec in " + words)
            lab.check(stream["packets"] > (20 if kind == "audio" else 3), "nothing flowed in " + words)
            lab.check(stream["encrypted"], "nothing was encrypted in " + words)
            lab.check(stream["lost"] <= most_lost, "packets were lost in " + words)
            if kind == "video":
                lab.check(stream["frames"] >= (least if way == "received" else 10), "too few pictures in " + words)
    lab.note("set-up %.0f ms" % summary["setupMilliseconds"])
    if has_video:
        video = summary["video"]
        lab.note("%d pictures out, %d in" % (video["sent"]["frames"], video["received"]["frames"]))


for kind in ("aiortc", "chromium"):
    for is_caller, name in [(False, "webrtc-offhook-calls-" + kind), (True, "webrtc-%s-calls-offhook" % kind)]:
        add(name, webrtc_call(kind, is_caller, False))
        add(name + "-vp8", webrtc_call(kind, is_caller, True))
for kind in ("gstreamer", "gstreamer-bundle"):
    add("webrtc-offhook-calls-" + kind, webrtc_call(kind, False, True))
    add("webrtc-%s-calls-offhook" % kind, webrtc_call(kind, True, True))
# Firefox takes long to start: sound, pictures and all else are tried in the same calls.
for kind in ("aiortc", "chromium", "firefox"):
    add("webrtc-offhook-restarts-ice-with-" + kind, webrtc_call(kind, False, True, restarts="offhook"))
add("webrtc-chromium-stops-its-first-line", stopped_pictures("chromium"))
for kind in ("chromium", "firefox"):
    add("webrtc-%s-restarts-ice" % kind, webrtc_call(kind, True, True, restarts="peer"))
    add("webrtc-%s-trickles-to-offhook" % kind, webrtc_call(kind, True, True, trickle=True))
    add("webrtc-offhook-trickles-to-" + kind, webrtc_call(kind, False, True, trickle=True))
add("webrtc-offhook-calls-janus-echo", echo_call)
for kind in calls.PEERS:
    for ice, word in [(False, "dtls"), (True, "ice-dtls")]:
        # Linphone 5.1 that is offered a bundle copies the group into its answer, but names no lines (`mid`), and gives its second
        # one no candidates ("part of a bundle, ICE not needed"): a second offer, without a bundle, follows.
        add("webrtc-offhook-calls-%s-%s" % (kind, word), softphone_call(kind, False, ice))
        add("webrtc-%s-calls-offhook-%s" % (kind, word), softphone_call(kind, True, ice))
add("webrtc-ipv6", relayed_call([], False, address="[::1]"))
add("webrtc-stun", relayed_call(["--stun", SERVER], False))
add("webrtc-turn", relayed_call(RELAY, False))
add("webrtc-turn-relay-only", relayed_call([*RELAY, "--ice", "relay"], True))
for by, address in [("TCP", "turn:%s?transport=tcp" % SERVER), ("TLS", "turns:127.0.0.1:5349")]:
    add("webrtc-turn-%s-relay-only" % by.lower(), relayed_call(["--turn", address, *LOGIN, "--ice", "relay"], True, by))
add("webrtc-turn-tls-wrong-name", misnamed_relay)
for by, address in [("TCP", "turn:[::1]:3478?transport=tcp"), ("TLS", "turns:[::1]:5349")]:
    add("webrtc-turn-ipv6-%s-relay-only" % by.lower(),
        relayed_call(["--turn", address, *LOGIN, "--ice", "relay"], True, by, "[::1]"))
