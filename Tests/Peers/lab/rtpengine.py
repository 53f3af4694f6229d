"""Debian's rtpengine 10.5, which relays media in user space for Kamailio."""

import shutil
import socket

from .lab import wait_for
from .process import Process

# Where Kamailio speaks to it.
CONTROL = 2223
PORTS = range(40000, 40201)


class RTPEngine(Process):
    def __init__(self, lab):
        if not shutil.which("rtpengine"):
            lab.skip("there is no rtpengine")
        argv = ["rtpengine", "--foreground", "--log-stderr", "--log-level=5", "--table=-1", "--interface=127.0.0.1",
                "--listen-ng=127.0.0.1:%d" % CONTROL, "--port-min=%d" % PORTS[0], "--port-max=%d" % PORTS[-1],
                "--num-threads=1", "--config-file=none", "--pidfile=" + lab.path("rtpengine.pid")]
        super().__init__(lab, "rtpengine", argv, folder=lab.path("."))
        lab.need(wait_for(self.answers, 10), "rtpengine does not start: " + self.error[-300:])

    def answers(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            control.settimeout(0.5)
            control.sendto(b"1 d7:command4:pinge", ("127.0.0.1", CONTROL))
            try:
                return b"pong" in control.recv(1000)
            except OSError:
                return False
