"""What no softphone at hand does: INVITEs with Join (RFC 3911) and with Replaces (RFC 3891), transfers by a phone that holds."""

import asyncio
import socket

from lab import sound
from lab.media import BARESIP_TONE, LINPHONE_TONE, OFFHOOK_TONE
from lab.offhook import ADDRESS, Offhook
from lab.plain_phone import PlainPhone

from .registry import add


def by_header(name):
    def body(lab):
        """Alice is in a call with offhook; bob's INVITE names it."""
        program = Offhook.answering(lab, "--calls", "2", "--srtp", "off", "--microphone", "silence")

        async def story():
            alice, bob = PlainPhone(6000, BARESIP_TONE), PlainPhone(6100, LINPHONE_TONE)
            await alice.open()
            await bob.open()
            await alice.call(ADDRESS)
            await asyncio.sleep(1)
            await bob.call(ADDRESS, "%s: %s" % (name, alice.dialog), "Require: " + name.lower())
            await asyncio.sleep(3)
            was_ended = alice.agent.is_ended.is_set()
            await bob.hang_up()
            await alice.hang_up()
            return alice, bob, was_ended

        alice, bob, was_ended = asyncio.run(story())
        for phone, path in ((alice, "alice.wav"), (bob, "bob.wav")):
            phone.write(lab.path(path))
        lab.need(program.wait(20) is not None, "offhook does not end: " + program.story)
        heard = {
            "alice": sound.seconds(lab.path("alice.wav"), LINPHONE_TONE),
            "bob": sound.seconds(lab.path("bob.wav"), BARESIP_TONE),
        }
        lab.note("heard: %s" % heard)
        if name == "Join":
            for who, seconds in heard.items():
                lab.check(seconds >= 1.5, "%s heard the other for %.1f s only" % (who, seconds))
            lab.check(not was_ended, "the first call ended")
        else:
            lab.check(was_ended, "the call that was replaced goes on")
            lab.check(not any(heard.values()), "they hear each other: %s" % heard)
        lab.check(len(program.named("callDidEstablish")) == 2, "the calls: " + program.story)
    return body


add("plain-phone-joins-a-call", by_header("Join"), limit=60)
add("plain-phone-replaces-a-call", by_header("Replaces"), limit=60)


def transferred(lab):
    """Alice holds offhook and sends it to carol, who answers without ringing (RFC 5589 §6.1)."""
    program = Offhook.answering(lab, "--srtp", "off")

    async def story():
        alice, carol = PlainPhone(6000, BARESIP_TONE), PlainPhone(6100, LINPHONE_TONE)
        await alice.open()
        await carol.open()
        await alice.call(ADDRESS)
        await alice.hold()
        status = await alice.transfer("sip:carol@127.0.0.1:6100")
        invite = await carol.answer()
        is_told = await alice.told("200 OK")
        await alice.hang_up()
        await asyncio.sleep(2.5)
        await carol.hang_up()
        carol.write(lab.path("carol.wav"))
        return status, invite.get("referred-by"), alice.agent.news[:1], is_told

    status, referrer, first, is_told = asyncio.run(story())
    lab.check(status == 202, "the REFER gets %s" % status)
    lab.check("peer@127.0.0.1:6000" in referrer, "the new call is by “%s”" % referrer)
    lab.check(first == ["SIP/2.0 100 Trying"] and is_told, "NOTIFY says %s, and no success" % first)
    program.interrupt()
    lab.need(program.wait(20) is not None, "offhook does not end: " + program.story)
    heard = sound.seconds(lab.path("carol.wav"), OFFHOOK_TONE), sound.seconds(
        program.sound.replace(".wav", "-2.wav"), LINPHONE_TONE)
    lab.note("heard: %s" % (heard,))
    lab.check(min(heard) >= 1.5, "carol and offhook heard each other for %s s" % (heard,))


def transferred_to_other(lab):
    """Alice is in a call with each of two offhooks, and puts them together (RFC 5589 §7.1)."""
    bob = Offhook.answering(lab, "--srtp", "off", name="bob")
    carol = Offhook.answering(lab, "--srtp", "off", name="carol", port=5062)

    async def story():
        first, second = PlainPhone(6000, BARESIP_TONE), PlainPhone(6100, BARESIP_TONE)
        await first.open()
        await second.open()
        await first.call(ADDRESS)
        await first.hold()
        await second.call("sip:offhook@127.0.0.1:5062")
        replaces = second.dialog.replace(";", "%3B").replace("=", "%3D")
        status = await first.transfer("sip:offhook@127.0.0.1:5062?Replaces=" + replaces)
        is_told = await first.told("200 OK")
        await first.hang_up()
        await asyncio.sleep(2.5)
        return status, is_told, second.agent.is_ended.is_set()

    lab.check(asyncio.run(story()) == (202, True, True), "the REFER, its NOTIFY or the end of the call that is replaced fails")
    for program in (bob, carol):
        program.interrupt()
        lab.need(program.wait(20) is not None, "%s does not end: %s" % (program.name, program.story))
        heard = sound.seconds(program.sound.replace(".wav", "-2.wav"), OFFHOOK_TONE)
        lab.check(heard >= 1.5, "%s heard the other for %.1f s only" % (program.name, heard))


def refused(lab):
    """A transfer that the settings forbid gets 603."""
    program = Offhook.answering(lab, "--srtp", "off", "--calls", "1", "--on-transfer", "refuse")

    async def story():
        alice = PlainPhone(6000, BARESIP_TONE)
        await alice.open()
        await alice.call(ADDRESS)
        status = await alice.transfer("sip:carol@127.0.0.1:6100")
        await alice.hang_up()
        return status

    status = asyncio.run(story())
    lab.check(status == 603, "the REFER gets %s" % status)
    program.finish()


def redirected(lab):
    """A caller is sent elsewhere."""
    program = Offhook.answering(lab, "--calls", "1", "--do", "0:redirect=sip:carol@127.0.0.1:6100")

    async def story():
        alice = PlainPhone(6000, BARESIP_TONE)
        await alice.open()
        try:
            await alice.call(ADDRESS)
        except RuntimeError as refusal:
            return str(refusal)

    lab.check("302" in str(asyncio.run(story())), "the call is not redirected")
    lab.check("Contact: <sip:carol@127.0.0.1:6100>" in program.trace, "the new address is not told")
    lab.need(program.wait(20) is not None, "offhook does not end: " + program.story)


def silent_registrar(lab):
    """The first Ctrl-C ends a program whose registrar says nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 5090))
        program = Offhook(lab, ["answer"], "--account", "sip:alice@127.0.0.1", "--server", "127.0.0.1:5090", "--transport", "udp",
                          "--register")
        server.settimeout(10)
        lab.check(server.recv(4096).startswith(b"REGISTER"), "no REGISTER came")
        program.interrupt()
        status = program.wait(6)
        lab.check(status == 130, "it ends with %s within six seconds" % status)
        lab.check(program.events and program.events[-1]["event"] == "summary", "the last event is no summary: " + program.story)


add("offhook-leaves-a-silent-registrar", silent_registrar, limit=60)
add("plain-phone-transfers-offhook", transferred, limit=60)
add("plain-phone-transfers-offhook-to-offhook", transferred_to_other, limit=60)
add("plain-phone-transfers-offhook-refused", refused, limit=60)
add("plain-phone-is-redirected", redirected, limit=60)
