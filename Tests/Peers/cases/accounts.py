"""Accounts at a registrar: registering, logging in, calling through a proxy, over every transport."""

import os
import subprocess
import time

from lab import rtpengine, sound
from lab.kamailio import DOMAIN, PORTS, Kamailio, issue_certificate, make_certificate
from lab.lab import wait_for
from lab.media import OFFHOOK_TONE
from lab.names import NameServer
from lab.offhook import Offhook

from . import calls
from .registry import add


# Pictures small enough for a machine that has other work.
SMALL = ["--camera", "pattern:320x180@15"]


def account(server, user, transport="udp", password=None, address="127.0.0.1"):
    """The options of a program that registers as that user."""
    variable = "PASSWORD_" + user.upper()
    os.environ[variable] = password or user + "pw"
    options = ["--account", "sip:%s@%s" % (user, DOMAIN), "--server", "%s:%d" % (address, PORTS[transport]), "--transport",
               transport, "--register", "--password-env", variable]
    if transport in ("tls", "wss"):
        options += ["--tls-ca", server.authority]
    return options


def states(program):
    return [event["state"] for event in program.named("registration")]


def call_through(transport, other=None, **settings):
    """Two accounts of ours call each other through the proxy, with pictures."""
    def body(lab):
        server = Kamailio(lab, **settings)
        callee = Offhook.answering(lab, "--calls", "1", "--video", "auto", *SMALL, *account(server, "bob", other or transport),
                                   name="bob", port=5062)
        lab.need(wait_for(lambda: server.contacts("bob"), 5), "bob is not registered")
        caller = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--video", "sendrecv", "--duration", "6", *SMALL,
                                 *account(server, "alice", transport), name="alice")
        caller.need_event("callDidEstablish", 20)
        lab.check(states(caller)[:2] == ["registering", "registered"], "the registration went %s" % states(caller))
        for program in (caller, callee):
            summary = program.finish(25)
            if settings.get("relays_media"):
                check_relayed(lab, program)
            lab.check(summary["established"], program.name + " was not in the call")
            lab.check(summary["video"]["received"]["frames"] > 3, program.name + " saw too few pictures")
            lab.check(states(program)[-1] == "unregistered", program.name + " did not end its registration")
        lab.check(not server.contacts("bob") and not server.contacts("alice"), "the registrar still has somebody")
        lab.note("set-up %.0f ms" % caller.events[-1]["setupMilliseconds"])
    return body


for transport in PORTS:
    add("accounts-call-over-" + transport, call_through(transport))
add("accounts-call-from-wss-to-udp", call_through("wss", "udp"))
add("accounts-call-through-rtpengine", call_through("udp", relays_media=True))
add("accounts-call-with-sha-256", call_through("udp", algorithm="SHA-256"))


def check_relayed(lab, program):
    """The media went through rtpengine."""
    for kind in ("audio", "video"):
        sent = program.samples[-1][kind]["sent"]
        if sent["packets"]:
            lab.check(int(sent["remote"].rsplit(":", 1)[1]) in rtpengine.PORTS, "%s goes to %s" % (kind, sent["remote"]))


def softphone(kind, is_caller, transport, has_video=False, relays_media=False):
    """A softphone registers too, and one calls the other through the proxy."""
    def body(lab):
        server = Kamailio(lab, relays_media=relays_media)
        user = {"baresip": "bob", "linphone": "alice"}[kind]
        peer = calls.PEERS[kind](lab, video=has_video, server="127.0.0.1:%d" % PORTS["udp"], domain=DOMAIN)
        lab.need(wait_for(lambda: server.contacts(user), 15), kind + " is not registered")
        options = account(server, "carol", transport) + ["--srtp", "off"]
        if has_video:
            options += ["--video", "sendrecv"]
        if is_caller:
            program = Offhook.answering(lab, "--calls", "1", *options)
            peer.call("sip:carol@" + DOMAIN)
        else:
            program = Offhook.calling(lab, "sip:%s@%s" % (user, DOMAIN), *options)
        program.need_event("callDidEstablish", 20)
        lab.need(peer.wait_established(15), kind + " does not see the call up")
        time.sleep(5 if has_video else 3)
        if has_video:
            calls.check_pictures(lab, program, calls.wait_for_picture(lab, peer))
        peer.hang_up()
        transports = ("tls",) if transport == "tls" else ("udp", "tcp")
        calls.check_summary(lab, program.finish(20), peer, has_video=has_video, transports=transports)
        calls.check_sound(lab, peer, program)
        if relays_media:
            check_relayed(lab, program)
    return body


for kind in calls.PEERS:
    for is_caller, name in [(False, "offhook-calls-" + kind), (True, kind + "-calls-offhook")]:
        for transport in ("udp", "tcp", "tls"):
            add("accounts-%s-by-%s" % (name, transport), softphone(kind, is_caller, transport, has_video=transport == "tcp"))
        add("accounts-%s-through-rtpengine" % name, softphone(kind, is_caller, "udp", has_video=True, relays_media=True))


def wrong_password(lab):
    server = Kamailio(lab)
    begin = time.monotonic()
    program = Offhook(lab, ["answer"], *account(server, "bob", password="no"))
    lab.need(program.wait(20) is not None, "offhook does not end: " + program.story)
    lab.check(program.process.returncode == 3, "offhook ends with %d" % program.process.returncode)
    lab.check("password" in program.error, "no word of the password: " + program.error)
    lab.check(states(program)[:2] == ["registering", "failed"], "the registration went %s" % states(program))
    lab.note("%.1f s" % (time.monotonic() - begin))


add("accounts-wrong-password", wrong_password)


def too_brief(lab):
    server = Kamailio(lab, least_expires=120)
    program = Offhook(lab, ["answer"], "--expires", "30", *account(server, "bob"))
    lab.need(program.wait_for("listening", 15), "offhook is not registered: " + program.story)
    lab.check(states(program) == ["registering", "registered"], "the registration went %s" % states(program))
    program.interrupt()
    program.wait(10)


add("accounts-interval-too-brief", too_brief)


def stale_nonce(lab):
    """A nonce that has run out by the time of the refresh and of the call costs nothing but a round trip."""
    server = Kamailio(lab, nonce_seconds=3)
    callee = Offhook.answering(lab, "--calls", "1", "--expires", "10", *account(server, "bob"), name="bob", port=5062)
    time.sleep(8)
    lab.check(states(callee) == ["registering", "registered"], "the registration went %s" % states(callee))
    lab.check(server.contacts("bob"), "the registration was not refreshed")
    caller = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--duration", "2", *account(server, "alice"), name="alice")
    caller.need_event("callDidEstablish", 15)
    for program in (caller, callee):
        program.finish(20)


add("accounts-stale-nonce", stale_nonce)


def certificate(words, make):
    """A server's certificate that is not right is refused, with a reason that a person understands.

    `make` gets a folder and an authority, and returns the server's certificate and what the phone trusts."""
    def body(lab):
        folder = lab.path("certificates")
        os.makedirs(folder)
        shown, trusted = make(folder, make_certificate(folder, "authority", subject="An authority"))
        server = Kamailio(lab, certificate=shown)
        options = account(server, "bob", "tls")
        options[options.index("--tls-ca") + 1] = trusted
        program = Offhook(lab, ["answer"], *options)
        lab.need(program.wait(30) is not None, "offhook does not end: " + program.story)
        lab.check(program.process.returncode == 3, "offhook ends with %d" % program.process.returncode)
        lab.check(words in program.error, "no word of it: " + program.error)
        lab.note(program.error.strip()[:160])
    return body


add("accounts-tls-wrong-name", certificate(
    "not for 127.0.0.1", lambda folder, authority: (
        issue_certificate(folder, authority, "other", "DNS:other.test"), authority)))
add("accounts-tls-expired", certificate(
    "has expired", lambda folder, authority: (issue_certificate(folder, authority, "old", is_expired=True), authority)))
add("accounts-tls-self-signed", certificate(
    "signed by itself", lambda folder, authority: (make_certificate(folder, "own"), authority)))
add("accounts-tls-unknown-authority", certificate(
    "authority that is not trusted", lambda folder, authority: (
        issue_certificate(folder, authority, "server"), make_certificate(folder, "another", subject="Another authority"))))


def client_certificate(lab):
    """A server that asks who we are gets our certificate, and turns away who has none."""
    folder = lab.path("certificates")
    os.makedirs(folder)
    authority = make_certificate(folder, "authority", subject="An authority")
    server = Kamailio(lab, certificate=issue_certificate(folder, authority, "server"), client_authority=authority)
    options = account(server, "bob", "tls")
    options[options.index("--tls-ca") + 1] = authority
    nobody = Offhook(lab, ["answer"], *options, name="nobody")
    lab.need(nobody.wait(30) is not None, "offhook does not end: " + nobody.story)
    lab.check("client certificate" in nobody.error, "no word of a certificate: " + nobody.error)
    own = issue_certificate(folder, authority, "bob")
    program = Offhook(lab, ["answer"], "--tls-cert", own, "--tls-key", own[:-4] + ".key", *options, port=5070)
    lab.need(program.wait_for("listening", 15), "offhook is not registered: " + program.story)
    program.interrupt()
    program.finish(15, status=130)


add("accounts-tls-client-certificate", client_certificate)


def tls_without_server(lab):
    """Two phones call each other by TLS."""
    folder = lab.path("certificates")
    os.makedirs(folder)
    authority = make_certificate(folder, "authority", subject="An authority")

    def options(name):
        own = issue_certificate(folder, authority, name)
        return ["--tls-ca", authority, "--tls-cert", own, "--tls-key", own[:-4] + ".key"]

    bob = Offhook.answering(lab, "--calls", "1", *options("bob"), name="bob", port=5070)
    alice = Offhook.calling(lab, "sip:bob@127.0.0.1:5071;transport=tls", "--duration", "2", *options("alice"), name="alice",
                            port=5080)
    alice.need_event("callDidEstablish", 15)
    for program in (alice, bob):
        summary = program.finish(15)
        lab.check(summary["transport"] == "tls", "%s used %s" % (program.name, summary["transport"]))


add("accounts-tls-without-server", tls_without_server)


def names(lab):
    """The server is found by NAPTR and SRV, and the next one is taken where the first is not there."""
    server = Kamailio(lab, address="127.0.0.22")
    name_server = NameServer(
        lab, "naptr-record=lab.test,10,10,S,SIP+D2T,,_sip._tcp.lab.test", "naptr-record=lab.test,20,10,S,SIP+D2U,,_sip._udp.lab.test",
        *("srv-host=_sip._%s.lab.test,%s.lab.test,5090,%d,1" % (transport, name, priority)
          for transport in ("tcp", "udp") for name, priority in (("gone", 10), ("here", 20))),
        "host-record=gone.lab.test,127.0.0.21", "host-record=here.lab.test,127.0.0.22")

    def options(user, *more):
        found = account(server, user)
        at = found.index("--server")
        return found[:at] + found[at + 4:] + ["--server", DOMAIN, *more]

    bob = Offhook.answering(lab, "--calls", "1", *options("bob"), name="bob", port=5062, prefix=name_server.prefix)
    lab.check(name_server.was_asked("NAPTR", DOMAIN), "nobody asked for NAPTR")
    lab.check("over tcp" in bob.trace, "NAPTR prefers TCP: " + bob.trace[:200])
    alice = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--duration", "2", *options("alice", "--transport", "udp"), name="alice",
                            prefix=name_server.prefix)
    alice.need_event("callDidEstablish", 30)
    for program in (alice, bob):
        # The target that is gone is no news.
        lab.check(states(program)[:2] == ["registering", "registered"], "the registration went %s" % states(program))
    lab.check("over udp" in alice.trace, "alice was told to use UDP")
    lab.check(name_server.was_asked("SRV", "_sip._udp.lab.test"), "nobody asked for SRV")
    for program in (alice, bob):
        program.finish(20)


add("accounts-found-by-names", names)


def lost_connection(lab):
    """The proxy goes away in mid-call and comes back: the call lives on, and ends in order."""
    server = Kamailio(lab)
    callee = Offhook.answering(lab, "--calls", "1", *account(server, "bob", "tcp"), name="bob", port=5062)
    caller = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--duration", "45", *account(server, "alice", "tls"), name="alice")
    caller.need_event("callDidEstablish", 20)
    time.sleep(1)
    server.stop()
    for program in (caller, callee):
        program.need_event("callDidLoseSignaling", 10)
    time.sleep(1)
    server = Kamailio(lab, name="kamailio2", certificate=server.authority)
    for program in (caller, callee):
        program.need_event("callDidRecoverSignaling", 25)
    for program in (caller, callee):
        summary = program.finish(60)
        lab.check(summary["established"] and summary["duration"] > 15, "%s: %s" % (program.name, summary["duration"]))
        heard = sound.seconds(program.sound, OFFHOOK_TONE)
        lab.note("%s heard %.1f s" % (program.name, heard))


add("accounts-lost-connection", lost_connection, limit=120)


def blind_transfer(lab):
    """Bob sends alice to carol: alice's call goes on there."""
    server = Kamailio(lab)
    carol = Offhook.answering(lab, "--calls", "1", *account(server, "carol", "tcp"), name="carol", port=5064)
    bob = Offhook.answering(lab, "--calls", "1", "--do", "1:transfer=sip:carol@" + DOMAIN, *account(server, "bob"),
                            name="bob", port=5062)
    alice = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--duration", "12", *account(server, "alice", "tls"), name="alice")
    alice.need_event("callDidEstablish", 20)
    requested = alice.need_event("didReceiveTransferRequestTo", 10)
    lab.check("carol" in requested["to"], "the request is %s" % requested)
    alice.need_event("callDidEstablish", 20, count=2)
    bob.need_event("didProgressTransfer", 10)
    lab.need(bob.wait(20) is not None, "bob does not end: " + bob.story)
    lab.check(bob.need_event("callDidEnd")["reason"] == "transferred", "bob's call ends as %s" % bob.named("callDidEnd"))
    lab.need(alice.wait(30) is not None, "alice does not end: " + alice.story)
    reasons = [event["reason"] for event in alice.named("callDidEnd")]
    lab.check(reasons[0] == "transferred", "alice's calls end as %s" % reasons)
    carol.finish(20)
    heard = sound.seconds(carol.sound, OFFHOOK_TONE)
    lab.note("carol heard alice for %.1f s" % heard)
    lab.check(heard > 1, "carol heard alice for %.1f s only" % heard)


add("accounts-blind-transfer", blind_transfer, limit=90)


def attended_transfer(lab):
    """Alice and carol both call bob, who brings them together: carol's call takes alice's place at the other end."""
    server = Kamailio(lab)
    bob = Offhook.answering(lab, "--calls", "2", "--do", "4:transfer-to-call=2", *account(server, "bob"), name="bob", port=5062)
    alice = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--duration", "14", *account(server, "alice", "tcp"), name="alice")
    alice.need_event("callDidEstablish", 20)
    carol = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--duration", "14", *account(server, "carol", "tls"), name="carol",
                            port=5064)
    carol.need_event("callDidEstablish", 20)
    alice.need_event("didReceiveTransferRequestTo", 10)
    alice.need_event("callDidEstablish", 15, count=2)
    carol.need_event("callDidEstablish", 15, count=2)
    lab.need(bob.wait(25) is not None, "bob does not end: " + bob.story)
    reasons = {program.name: [event["reason"] for event in program.named("callDidEnd")] for program in (alice, bob, carol)}
    lab.check("transferred" in reasons["bob"], "bob's calls end as %s" % reasons["bob"])
    for program in (alice, carol):
        lab.need(program.wait(30) is not None, "%s does not end: %s" % (program.name, program.story))
        lab.check(program.named("callDidEnd")[0]["reason"] in ("transferred", "replaced"),
                  "%s's calls end as %s" % (program.name, program.named("callDidEnd")))
        # The second call has files of its own.
        heard = sound.seconds(program.sound.replace(".wav", "-2.wav"), OFFHOOK_TONE)
        lab.note("%s heard the other for %.1f s" % (program.name, heard))
        lab.check(heard > 1, "%s heard the other for %.1f s only" % (program.name, heard))


add("accounts-attended-transfer", attended_transfer, limit=90)


def joined_calls(lab):
    """Alice and carol both call bob, who joins them: they hear each other."""
    server = Kamailio(lab)
    bob = Offhook.answering(lab, "--calls", "2", "--microphone", "silence", "--do", "6:join=2", *account(server, "bob"),
                            name="bob", port=5062)
    carol = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--microphone", "silence", *account(server, "carol"), name="carol",
                            port=5064)
    carol.need_event("callDidEstablish", 20)
    alice = Offhook.calling(lab, "sip:bob@" + DOMAIN, *account(server, "alice"), name="alice")
    alice.need_event("callDidEstablish", 20)
    # They are joined six seconds after the first call.
    time.sleep(11)
    for program in (alice, carol):
        program.interrupt()
    for program in (alice, carol, bob):
        lab.need(program.wait(30) is not None, "%s does not end: %s" % (program.name, program.story))
    heard = sound.seconds(carol.sound, OFFHOOK_TONE)
    lab.note("carol heard alice for %.1f s" % heard)
    lab.check(heard > 2, "carol heard alice for %.1f s only" % heard)


add("accounts-joined-calls", joined_calls, limit=90)


def new_address(lab):
    """The machine gets another address in mid-call: it registers anew, and the call goes on."""
    other = subprocess.Popen(["unshare", "--net", "sleep", "300"])
    inside = ["nsenter", "--target", str(other.pid), "--net"]

    def ip(*words, prefix=()):
        subprocess.run([*prefix, "ip", *words], check=True)

    try:
        lab.need(wait_for(lambda: os.readlink("/proc/%d/ns/net" % other.pid) != os.readlink("/proc/self/ns/net"), 5),
                 "no second network namespace can be made")
        ip("link", "add", "v0", "type", "veth", "peer", "name", "v1")
        ip("link", "set", "v1", "netns", str(other.pid))
        ip("addr", "add", "10.9.0.1/24", "dev", "v0")
        ip("link", "set", "v0", "up")
        for words in (["addr", "add", "10.9.0.254/24", "dev", "v1"], ["link", "set", "v1", "up"], ["link", "set", "lo", "up"]):
            ip(*words, prefix=inside)
        server = Kamailio(lab, address="10.9.0.254", prefix=inside)
        bob = Offhook.answering(lab, "--calls", "1", "--bind", "10.9.0.254:5062",
                                *account(server, "bob", address="10.9.0.254"), name="bob", prefix=inside)
        alice = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--duration", "12", "--bind", "0.0.0.0:5060",
                                *account(server, "alice", address="10.9.0.254"), name="alice")
        alice.need_event("callDidEstablish", 20)
        time.sleep(2)
        ip("addr", "del", "10.9.0.1/24", "dev", "v0")
        ip("addr", "add", "10.9.0.77/24", "dev", "v0")
        moved = wait_for(lambda: any("10.9.0.77" in contact for contact in server.contacts("alice")), 10)
        lab.check(moved, "the registrar knows %s" % server.contacts("alice"))
        for program in (alice, bob):
            summary = program.finish(30)
            lab.check(summary["duration"] > 10, "%s: %s" % (program.name, summary["duration"]))
        for program in (alice, bob):
            # Sound came again once the other knew the new address.
            packets = [sample["audio"]["received"]["packets"] for sample in program.samples]
            lab.check(packets[-1] > packets[len(packets) // 2] + 50, "%s got %s packets" % (program.name, packets))
        local = alice.samples[-1]["audio"]["sent"]["local"]
        lab.check(local.startswith("10.9.0.77"), "alice sends from " + local)
    finally:
        other.kill()
        other.wait()


add("accounts-new-address", new_address, limit=90)
