"""SIPp with a scenario of `Tests/Peers/sipp`."""

import os

from .lab import wait_for
from .process import Process

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sipp")


class SIPp(Process):
    address = "sip:sipp@127.0.0.1:5075"

    def __init__(self, lab, scenario, *arguments):
        folder = lab.path("sipp")
        os.makedirs(folder)
        argv = ["sipp", "-sf", os.path.join(FOLDER, scenario + ".xml"), "-i", "127.0.0.1", "-mi", "127.0.0.1", "-p", "5075",
                "-mp", "26000", "-s", "offhook", "-key", "user", "sipp", "-t", "u1", "-m", "1", "-timeout", "40s",
                "-timeout_error", "-nostdin", "-trace_err", "-error_file", "errors.log", "-trace_msg", "-message_file",
                "messages.log", *arguments]
        super().__init__(lab, "sipp-log", argv, folder=folder)

    def is_listening(self):
        """Waits until a callee has its port."""
        def seen():
            with open("/proc/net/udp") as file:
                return ":%04X " % 5075 in file.read()
        return wait_for(seen, 15)

    def finish(self, seconds=45):
        status = self.wait(seconds)
        try:
            with open(self.lab.path("sipp/errors.log"), errors="replace") as file:
                words = file.read().strip()[:400]
        except FileNotFoundError:
            words = ""
        self.lab.check(status == 0, "the scenario fails with status %s: %s" % (status, words))
