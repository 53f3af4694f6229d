"""The program under test."""

import json
import os

from .lab import wait_for
from .media import OFFHOOK_TONE
from .process import Process

ADDRESS = "sip:offhook@127.0.0.1:5060"


class Offhook(Process):
    """`offhook call` or `offhook answer`, with its events."""

    def __init__(self, lab, command, *arguments, name="offhook", port=5060, prefix=(), bind="127.0.0.1"):
        self.sound = lab.path(name + ".wav")
        self.picture = lab.path(name + ".png")
        self.statistics = lab.path(name + ".stats")
        argv = [*prefix, os.environ["OFFHOOK"], *command, "--bind", "%s:%d" % (bind, port), "--events", "json",
                "--microphone", "tone:%d" % OFFHOOK_TONE, "--speaker", self.sound, "--display", self.picture,
                "--camera", "pattern:320x180@15", "--stats", self.statistics, "--trace", lab.path(name + ".sip"), *arguments]
        super().__init__(lab, name, argv)

    @staticmethod
    def calling(lab, address, *arguments, **named):
        return Offhook(lab, ["call", address], *arguments, **named)

    @staticmethod
    def answering(lab, *arguments, **named):
        program = Offhook(lab, ["answer"], *arguments, **named)
        lab.need(program.wait_for("listening", 20), "offhook does not listen: " + program.error.strip())
        return program

    @property
    def events(self):
        return [json.loads(line) for line in self.output.splitlines(True) if line.endswith("\n")]

    def named(self, name):
        return [event for event in self.events if event["event"] == name]

    def wait_for(self, name, seconds=10, count=1):
        """The last event of a name once there are so many, or None."""
        wait_for(lambda: len(self.named(name)) >= count or not self.is_running, seconds)
        found = self.named(name)
        return found[-1] if len(found) >= count else None

    def need_event(self, name, seconds=10, count=1):
        seen = self.wait_for(name, seconds, count)
        return self.lab.need(seen, "offhook tells no %s, only %s" % (name, self.story))

    @property
    def story(self):
        return " ".join(event["event"] for event in self.events) + " " + self.error.strip()

    def wait_for_channel(self, negotiated, seconds=10, count=1):
        """Waits until the newest list of video channels has one with this direction."""
        def seen():
            lists = [event["videoChannels"] for event in self.named("didUpdateVideoChannels")]
            return len(lists) >= count and [c for c in lists[-1] if c["enabled"] and c["negotiated"] == negotiated]
        self.lab.need(wait_for(seen, seconds), "no video channel is %s: %s" % (negotiated, self.channels))

    @property
    def samples(self):
        """The figures of each second."""
        with open(self.statistics) as file:
            return [json.loads(line) for line in file]

    def longest_pause(self, way):
        """For how many seconds no sound was sent or received, by the samples of each second."""
        counts = [sample["audio"][way]["packets"] for sample in self.samples]
        longest = run = 0
        for before, after in zip(counts, counts[1:]):
            run = run + 1 if after == before else 0
            longest = max(longest, run)
        return longest

    @property
    def trace(self):
        """The messages."""
        with open(self.lab.path(self.name + ".sip"), errors="replace") as file:
            return file.read()

    @property
    def sent_descriptions(self):
        """The messages that the program sent."""
        return "\n".join(part for part in self.trace.split("--- ") if " sent to " in part.partition("\n")[0])

    @property
    def channels(self):
        """The newest list of video channels."""
        lists = self.named("didUpdateVideoChannels")
        return lists[-1]["videoChannels"] if lists else None

    def finish(self, seconds=15, status=0):
        """Waits for the end, checks what holds for every call, and returns the summary."""
        found = self.wait(seconds)
        self.lab.need(found is not None, "offhook does not end: " + self.story)
        self.lab.check(found == status, "offhook ends with %s, not %s: %s" % (found, status, self.story))
        names = [event["event"] for event in self.events]
        self.lab.need(names and names[-1] == "summary", "the last event is no summary: " + self.story)
        self.lab.check(names.count("callDidEnd") <= 1, "a call ends more than once: " + self.story)
        if "didReceiveIncomingCall" in names:
            self.lab.check(
                names.index("didReceiveIncomingCall") == min(at for at, event in enumerate(self.events) if event["call"]),
                "something is told before the call came in: " + self.story)
        if "didUpdateVideoChannels" in names and "callDidEstablish" in names:
            self.lab.check(
                names.index("callDidEstablish") < names.index("didUpdateVideoChannels"),
                "video channels are told before the call is up: " + self.story)
        return self.events[-1]
