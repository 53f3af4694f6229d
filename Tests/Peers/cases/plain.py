"""A phone that asks to be joined with a call that is up (RFC 3911), and one that takes a call's place (RFC 3891)."""

import asyncio

from lab import sound
from lab.media import BARESIP_TONE, LINPHONE_TONE
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
