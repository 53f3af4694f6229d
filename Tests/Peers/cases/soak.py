"""Many calls between two clients of one process: nothing may be left behind."""

import json
import os

from lab.kamailio import PORTS, Kamailio
from lab.process import Process

from .registry import add

CALLS, CALLS_AT_ONCE = 200, 50
# What the system's allocator may keep.
KILOBYTES = 12000


def soak(lab):
    # One arena, and large blocks apart, so that memory which is free can be given back.
    allocator = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    program = Process(lab, "soak", [os.environ["OFFHOOK_SOAK"], str(CALLS), str(CALLS_AT_ONCE)], allocator)
    status = program.wait(280)
    lab.need(status == 0, "the program ends with %s: %s" % (status, program.error.strip()[-300:]))
    phases = {phase["phase"]: phase for phase in map(json.loads, program.output.splitlines())}
    first = phases["at first"]
    for name in ("one after another", "at once, once", "at once, twice", "at once, thrice", "at last"):
        phase = phases[name]
        for what in ("descriptors", "threads"):
            lab.check(phase[what] <= first[what], "%d %s before, %d after (%s)" % (first[what], what, phase[what], name))
        growth = phase["kilobytes"] - first["kilobytes"]
        lab.check(growth < KILOBYTES, "%d kB more after (%s)" % (growth, name))
        lab.note("%s: %d descriptors, %d threads, %+d kB" % (name, phase["descriptors"], phase["threads"], growth))
    setups = phases["one after another"]
    lab.note("set-up %.0f ms (median), %.0f ms (most)" % (setups["setupMedian"], setups["setupMost"]))


add("soak", soak, limit=300, is_alone=True)


# OFFHOOK_SOAK_ACCOUNTS=1000,10000 registers a thousand accounts and makes ten thousand calls between them.
ACCOUNTS, ACCOUNT_CALLS = map(int, os.environ.get("OFFHOOK_SOAK_ACCOUNTS", "100,200").split(","))


def accounts(lab):
    """Many accounts at Kamailio call each other, twenty at once: none is lost, and memory stays where it is."""
    Kamailio(lab)
    allocator = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    program = Process(
        lab, "soak", [os.environ["OFFHOOK_SOAK"], "accounts", "127.0.0.1:%d" % PORTS["udp"], str(ACCOUNTS),
                      str(ACCOUNT_CALLS), "20"], allocator)
    status = program.wait(60 + ACCOUNT_CALLS // 4)
    lab.need(status == 0, "the program ends with %s: %s" % (status, program.error.strip()[-300:]))
    phases = [json.loads(line) for line in program.output.splitlines()]
    registered = next(phase for phase in phases if phase["phase"] == "registered")
    calls = [phase for phase in phases if phase["phase"] == "calls"]
    lab.check(registered["lost"] == 0, "%d accounts could not register" % registered["lost"])
    lab.check(calls[-1]["lost"] == 0, "%d calls were lost: %s" % (calls[-1]["lost"], program.error.strip()[-300:]))
    lab.check(phases[-1]["open"] == 0, "%d calls are left" % phases[-1]["open"])
    # Once pools and queues have grown to what so many calls at once need, nothing is added.
    growth = calls[-1]["kilobytes"] - calls[len(calls) // 2]["kilobytes"]
    lab.check(growth < KILOBYTES, "%d kB more in the second half of the calls" % growth)
    lab.note("%d registrations in %.1f s; %d calls in %.0f s; %.0f kB, %+d kB in the second half; set-up %.0f ms (median)"
             % (ACCOUNTS, registered["seconds"], calls[-1]["calls"], calls[-1]["seconds"] - registered["seconds"],
                calls[-1]["kilobytes"], growth, calls[-1]["setupMedian"]))


add("soak-accounts", accounts, limit=90 + ACCOUNT_CALLS // 4, is_alone=True)
