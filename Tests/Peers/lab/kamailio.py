"""Debian's Kamailio 5.6 as registrar and proxy."""

import datetime
import json
import os
import socket
import subprocess

from . import rtpengine
from .lab import wait_for
from .process import Process

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PORTS = {"udp": 5090, "tcp": 5090, "tls": 5091, "ws": 5092, "wss": 5093}
DOMAIN = "lab.test"


class Kamailio(Process):
    """Takes every user NAME with the password NAMEpw."""

    def __init__(self, lab, name="kamailio", algorithm="MD5", least_expires=1, nonce_seconds=60, certificate=None,
                 address="127.0.0.1", prefix=(), client_authority=None,
                 relays_media=False):
        folder = lab.path(name)
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.authority = certificate or make_certificate(folder)
        self.options = {
            "@ADDRESS@": address, "@FOLDER@": folder, "@PORT@": PORTS["udp"], "@TLSPORT@": PORTS["tls"], "@WSPORT@": PORTS["ws"],
            "@WSSPORT@": PORTS["wss"], "@ALGORITHM@": "" if algorithm == "MD5" else algorithm,
            "@MINEXPIRES@": least_expires, "@NONCEEXPIRE@": nonce_seconds,
            "@NGPORT@": rtpengine.CONTROL,
        }
        with open(os.path.join(HERE, "kamailio", "kamailio.cfg")) as file:
            text = file.read()
        for key, value in self.options.items():
            text = text.replace(key, str(value))
        with open(os.path.join(folder, "kamailio.cfg"), "w") as file:
            file.write(text)
        with open(os.path.join(folder, "tls.cfg"), "w") as file:
            for side in ("server", "client"):
                asks = "yes" if side == "server" and client_authority else "no"
                file.write("[%s:default]\nmethod = TLSv1.2+\nverify_certificate = %s\nrequire_certificate = %s\n"
                           % (side, asks, asks))
                if asks == "yes":
                    file.write("ca_list = %s\n" % client_authority)
                file.write("private_key = %s\ncertificate = %s\n" % (self.authority[:-4] + ".key", self.authority))
        argv = [*prefix, "kamailio", "-f", os.path.join(folder, "kamailio.cfg"), "-DD", "-E", "-Y", folder, "-P",
                os.path.join(folder, "kamailio.pid"), "-m", "32", "-M", "4"]
        if relays_media:
            rtpengine.RTPEngine(lab)
            argv += ["-A", "WITH_RTPENGINE"]
        super().__init__(lab, name, argv, folder=folder)
        lab.need(wait_for(self.answers, 20), "kamailio does not start: " + self.error[-400:])

    def answers(self):
        try:
            return self.rpc("core.version") is not None
        except OSError:
            return False

    def rpc(self, method, *parameters):
        """The result of a command over Kamailio's control socket."""
        own = os.path.join(self.folder, "own.sock")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as control:
            if os.path.exists(own):
                os.unlink(own)
            control.bind(own)
            control.settimeout(2)
            message = {"jsonrpc": "2.0", "method": method, "params": list(parameters), "id": 1}
            control.sendto(json.dumps(message).encode(), os.path.join(self.folder, "rpc.sock"))
            return json.loads(control.recv(1 << 20)).get("result")

    def contacts(self, user):
        """The contacts that the registrar keeps of a user."""
        found = self.rpc("ul.lookup", "location", "%s@%s" % (user, DOMAIN))
        return [entry["Contact"]["Address"] for entry in found["Contacts"]] if found else []


def make_certificate(folder, name="server", subject="127.0.0.1", alternative="IP:127.0.0.1,DNS:localhost,DNS:lab.test",
                     days=30):
    """A certificate that is signed by itself; returns the path of its PEM file, beside which its key is."""
    path = os.path.join(folder, name + ".pem")
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            str(days), "-subj", "/CN=" + subject, "-addext", "subjectAltName=" + alternative, "-keyout",
            os.path.join(folder, name + ".key"), "-out", path]
    subprocess.run(argv, check=True, capture_output=True)
    return path


def issue_certificate(folder, authority, name, alternative="IP:127.0.0.1,DNS:lab.test", is_expired=False, is_authority=False):
    """A certificate that an authority (of `make_certificate` or of this) has signed; returns its path."""
    path, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    request, book = path + ".request", os.path.join(folder, name + ".book")
    os.makedirs(book)
    with open(os.path.join(book, "ca.cnf"), "w") as file:
        file.write("[ca]\ndefault_ca = lab\n[lab]\nnew_certs_dir = %s\ndatabase = %s/index\nrand_serial = yes\n"
                   "default_md = sha256\npolicy = any\n[any]\ncommonName = supplied\n[names]\nsubjectAltName = %s\n"
                   "basicConstraints = critical,CA:%s\n" % (book, book, alternative, str(is_authority).upper()))
    open(os.path.join(book, "index"), "w").close()
    now = datetime.datetime.utcnow()
    begin, end = (now - datetime.timedelta(days=20), now + datetime.timedelta(days=-10 if is_expired else 10))
    for argv in (
        ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=" + name,
         "-keyout", key, "-out", request],
        ["openssl", "ca", "-batch", "-notext", "-config", os.path.join(book, "ca.cnf"), "-cert", authority, "-keyfile",
         authority[:-4] + ".key", "-in", request, "-out", path, "-extensions", "names",
         "-startdate", begin.strftime("%Y%m%d%H%M%SZ"), "-enddate", end.strftime("%Y%m%d%H%M%SZ")],
    ):
        subprocess.run(argv, check=True, capture_output=True)
    return path
