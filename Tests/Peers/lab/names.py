"""A name server of a case's own: dnsmasq, asked by programs that are started with `prefix`."""

import shutil
import socket

from .lab import wait_for
from .process import Process


class NameServer(Process):
    """Answers for these records, in dnsmasq's own words (`srv-host=…`), and knows nobody else."""

    def __init__(self, lab, *records):
        if not shutil.which("dnsmasq"):
            lab.skip("there is no dnsmasq")
        with open(lab.path("resolv.conf"), "w") as file:
            file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:2\n")
        # Its own idea of the system's name servers, for one program alone.
        self.prefix = ["unshare", "--mount", "sh", "-c",
                       'mount --bind "%s" /etc/resolv.conf && exec "$@"' % lab.path("resolv.conf"), "sh"]
        argv = ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=53", "--listen-address=127.0.0.1",
                "--bind-interfaces", "--no-resolv", "--no-hosts", "--user=", "--pid-file=", "--log-queries",
                "--log-facility=-", *("--" + record for record in records)]
        super().__init__(lab, "dnsmasq", argv)
        lab.need(wait_for(self.answers, 10), "dnsmasq does not start: " + self.error[-300:])

    def answers(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(0.5)
            # A question for the root's address.
            client.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0\0\0\1\0\1", ("127.0.0.1", 53))
            try:
                return bool(client.recv(512))
            except OSError:
                return False

    def was_asked(self, kind, name):
        return "query[%s] %s" % (kind, name) in self.error + self.output
