"""one.py CASE FOLDER: runs one case in the namespace it was started in; the last line it prints is the outcome as JSON."""

import json
import os
import signal
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cases  # noqa: E402
from lab.lab import Lab, Skipped, Stopped  # noqa: E402
from lab.process import Process  # noqa: E402


def main():
    name, folder = sys.argv[1:]
    # Ends the peers too where the case takes too long.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    lab = Lab(folder)
    skipped = None
    try:
        if os.environ.get("OFFHOOK_PEERS_CAPTURE"):
            Process(lab, "tcpdump", ["tcpdump", "-i", "lo", "-U", "-w", lab.path("packets.pcap")])
            time.sleep(1)
        cases.ALL[name].body(lab)
    except Stopped as stopped:
        lab.failures.append(str(stopped))
    except Skipped as reason:
        skipped = str(reason)
    except Exception as error:
        traceback.print_exc()
        lab.failures.append("%s: %s" % (type(error).__name__, error))
    finally:
        lab.stop()
    print(json.dumps({"failures": lab.failures, "notes": lab.notes, "skipped": skipped}))


main()
