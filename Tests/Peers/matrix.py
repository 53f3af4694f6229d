"""Runs the cases: several side by side, each in a network namespace of its own, one line each."""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import cases  # noqa: E402
from lab import media  # noqa: E402

WORK = os.path.join(os.path.dirname(os.path.dirname(HERE)), ".build-peers")


def run_alone(name, folder):
    """Runs one case in a process in a namespace of its own; returns its outcome."""
    begin = time.monotonic()
    user = [] if os.getuid() == 0 else ["--map-root-user"]
    argv = ["unshare", *user, "--net", "--", sys.executable, os.path.join(HERE, "one.py"), name, folder]
    limit = cases.ALL[name].limit
    with open(os.path.join(folder, "case.log"), "wb") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        try:
            output = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
            return ["not done after %d s" % limit], [], None, time.monotonic() - begin
    try:
        outcome = json.loads(output.splitlines()[-1])
        return outcome["failures"], outcome["notes"], outcome["skipped"], time.monotonic() - begin
    except (ValueError, IndexError):
        with open(os.path.join(folder, "case.log"), errors="replace") as log:
            lines = log.read().strip().splitlines() or ["ended with status %d" % process.returncode]
        return [lines[-1]], [], None, time.monotonic() - begin


def main():
    words = sys.argv[1:]
    if words == ["--list"]:
        print("\n".join(cases.ALL))
        return 0
    names = [name for name in cases.ALL if not words or any(word in name for word in words)]
    if not names:
        print("No case has a name with %s in it; see Tests/Peers/run --list." % " or ".join(words), file=sys.stderr)
        return 2
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    media.make(os.path.join(WORK, "media"))
    begin = time.monotonic()
    failed, skipped = [], []

    def run(name):
        folder = os.path.join(WORK, name)
        os.makedirs(folder)
        failures, notes, reason, seconds = run_alone(name, folder)
        word = "failed" if failures else "skipped" if reason else "passed"
        print("%-7s %-44s %5.1f s  %s" % (word, name, seconds, reason or ", ".join(notes)), flush=True)
        for failure in failures:
            print("        " + failure, flush=True)
        if failures:
            failed.append(name)
        else:
            if reason:
                skipped.append(name)
            shutil.rmtree(folder)

    # What measures memory and time runs after the others, alone.
    together = [name for name in names if not cases.ALL[name].is_alone]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("OFFHOOK_PEERS_JOBS", "3"))) as pool:
        list(pool.map(run, together))
    for name in names:
        if cases.ALL[name].is_alone:
            run(name)

    if failed:
        print("Failed: %s. What they left: %s" % (" ".join(failed), WORK))
    else:
        shutil.rmtree(WORK)
    passed = len(names) - len(failed) - len(skipped)
    print("%d passed, %d failed, %d skipped in %d s" % (passed, len(failed), len(skipped), time.monotonic() - begin))
    return 1 if failed else 0 if passed else 77


sys.exit(main())
