"""Scanners and floods: a phone that listens to its server alone is silent to everybody else, and goes on serving."""

import os
import shutil
import socket
import subprocess
import time

from lab.kamailio import DOMAIN, Kamailio
from lab.lab import wait_for
from lab.offhook import Offhook

from .accounts import account
from .registry import add

SERVER, STRANGER, PHONE = "127.0.0.9", "127.0.0.66", ("127.0.0.1", 5062)
INVITES, CONNECTIONS = 4000, 200
# What the allocator and the log of a running program may come to in the meantime.
KILOBYTES = 4000


def phone(lab):
    """A phone that is registered and listens to its server alone."""
    server = Kamailio(lab, address=SERVER)
    bob = Offhook.answering(lab, "--calls", "1", "--accept-from", "server", *account(server, "bob", address=SERVER),
                            name="bob", port=PHONE[1])
    return server, bob


def serves(lab, server, bob):
    """Nobody has rung, and a call through the server still comes."""
    lab.check(not bob.named("didReceiveIncomingCall"), "a stranger has rung")
    lab.check(STRANGER not in bob.trace, "a stranger's message got in")
    alice = Offhook.calling(lab, "sip:bob@" + DOMAIN, "--duration", "1", "--bind", "127.0.0.3:5060",
                            *account(server, "alice", address=SERVER), name="alice")
    alice.need_event("callDidEstablish", 20)
    for program in (alice, bob):
        program.finish(20)


def scanners(lab):
    """SIPVicious finds no phone, no extension and no password."""
    tools = os.environ.get("OFFHOOK_PEERS_SIPVICIOUS", "")
    if not shutil.which(os.path.join(tools, "sipvicious_svmap")):
        lab.skip("there is no SIPVicious")
    server, bob = phone(lab)
    target = "udp://%s:%d" % PHONE
    for name, words in [
        ("svmap", ["-m", "OPTIONS", "-p", str(PHONE[1]), PHONE[0]]),
        ("svmap", ["-m", "INVITE", "-p", str(PHONE[1]), PHONE[0]]),
        ("svwar", ["--force", "-m", "INVITE", "-e", "100-160", "--maximumtime", "4", target]),
        ("svwar", ["--force", "-m", "REGISTER", "-e", "100-160", "--maximumtime", "4", target]),
        ("svcrack", ["-u", "bob", "-r", "100-160", "--maximumtime", "4", target]),
    ]:
        found = subprocess.run([os.path.join(tools, "sipvicious_" + name), "-b", STRANGER, "-x", STRANGER, *words],
                               capture_output=True, text=True, timeout=40, env={**os.environ, "HOME": lab.path(".")})
        story = found.stdout + found.stderr
        lab.note(name + ": " + (story.strip().splitlines() or ["nothing"])[-1][:60])
        lab.check("| SIP Device" not in story and "reqauth" not in story and "| Password |" not in story,
                  "%s found something: %s" % (name, story[-300:]))
    serves(lab, server, bob)


def holdings(program):
    """Kilobytes of memory, and descriptors."""
    with open("/proc/%d/status" % program.process.pid) as file:
        memory = int(next(line for line in file if line.startswith("VmRSS")).split()[1])
    return memory, len(os.listdir("/proc/%d/fd" % program.process.pid))


def flood(lab):
    """Thousands of INVITEs and hundreds of connections from a stranger leave nothing behind."""
    server, bob = phone(lab)
    time.sleep(1)
    before = holdings(bob)
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind((STRANGER, 0))
    for number in range(INVITES):
        datagrams.sendto(invite(number).encode(), PHONE)
        if number % 50 == 0:
            time.sleep(0.005)
    connections = []
    for number in range(CONNECTIONS):
        connection = socket.socket()
        connection.bind((STRANGER, 0))
        connection.settimeout(5)
        try:
            connection.connect(PHONE)
            connection.send(invite(INVITES + number).encode())
        except OSError:
            pass
        connections.append(connection)
    datagrams.settimeout(1)
    try:
        lab.check(False, "a stranger was answered: %s" % datagrams.recv(2000)[:60])
    except TimeoutError:
        pass
    lab.need(wait_for(lambda: holdings(bob)[1] <= before[1], 10), "descriptors: %s, then %s" % (before, holdings(bob)))
    after = holdings(bob)
    lab.note("%d INVITEs and %d connections: %+d kB, %+d descriptors"
             % (INVITES, CONNECTIONS, after[0] - before[0], after[1] - before[1]))
    lab.check(after[0] - before[0] < KILOBYTES, "memory grew by %d kB" % (after[0] - before[0]))
    for connection in connections:
        connection.close()
    serves(lab, server, bob)


def invite(number):
    return ("INVITE sip:%d@%s:%d SIP/2.0\r\nVia: SIP/2.0/UDP %s:5060;branch=z9hG4bKflood%d\r\n"
            "From: <sip:100@%s>;tag=%d\r\nTo: <sip:bob@%s>\r\nCall-ID: flood%d\r\nCSeq: 1 INVITE\r\n"
            "Contact: <sip:100@%s>\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n"
            % (100 + number, *PHONE, STRANGER, number, STRANGER, number, PHONE[0], number, STRANGER))


add("strangers-scanners", scanners)
add("strangers-flood", flood)
