"""Many calls between two clients of one process: nothing may be left behind."""

import json
import os

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
