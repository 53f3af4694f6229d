"""What one case works with."""

import os
import subprocess
import time


class Stopped(Exception):
    """The case cannot go on."""


def wait_for(claim, seconds, step=0.05):
    """The first true value of `claim()`, or its last one once the time is over."""
    end = time.monotonic() + seconds
    while True:
        value = claim()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


class Skipped(Exception):
    """What the case needs cannot be had here."""


class Lab:
    """A folder, the processes of a case and what was found."""

    def __init__(self, folder):
        self.folder = folder
        self.media = os.path.join(os.path.dirname(folder), "media")
        self.processes = []
        self.failures = []
        self.notes = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def medium(self, name):
        return os.path.join(self.media, name)

    def check(self, claim, words):
        """Notes a failure and goes on."""
        if not claim:
            self.failures.append(words)
        return bool(claim)

    def need(self, claim, words):
        """Ends the case where it makes no sense to go on."""
        if not claim:
            raise Stopped(words)
        return claim

    def skip(self, words):
        raise Skipped(words)

    def note(self, words):
        self.notes.append(words)

    def add_second_address(self, address="127.0.0.2"):
        """On an interface that is not loopback: the ICE of baresip and linphone leaves 127.0.0.1 out, Firefox all that begins so."""
        commands = ("link add ice0 type veth peer name ice1", "link set ice0 addrgenmode none",
                    "link set ice1 addrgenmode none", "addr add %s/32 dev ice0" % address, "link set ice0 up",
                    "link set ice1 up", "route add default dev ice0")
        for command in commands:
            subprocess.run(["ip", *command.split()], check=True)

    def stop(self):
        for process in reversed(self.processes):
            process.stop()
