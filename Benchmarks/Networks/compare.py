"""compare.py OFFHOOK PYTHON LINK [KEY=VALUE…] [ROW…]: a film sent over a bad network, by Offhook to Offhook and by Chromium to
Chromium in turns, on the same machine.

Rows: clean loss5 loss10 loss20 jitter narrow step far5 far10; all unless some are named. Keys: seconds=30 settle=15 size=640x360
most=1500 delay=25 (a way), only=offhook or only=chromium, and keep=FOLDER for Offhook's figures of each second. Both ends are in network namespaces of their own; what is
between is `link.c`. A call is brought up over a good link of the same delay, then the link becomes bad, and after the time for
settling the window begins that is measured. Prints a line for each call, the load of the machine with it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import wave
import math
import array

HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESSES = ("10.9.0.1", "10.9.0.2")
ROWS = {
    "clean": "", "loss5": "loss=5", "loss10": "loss=10", "loss20": "loss=20", "jitter": "jitter=40",
    "narrow": "a:rate=600 a:queue=200", "step": "a:queue=300", "far5": "delay=150 loss=5", "far10": "delay=150 loss=10",
}
OPTIONS = {"seconds": "30", "settle": "15", "size": "640x360", "most": "1500", "delay": "25", "only": "", "keep": ""}
# A freeze, as W3C's webrtc-stats counts it, is told by both programs.


def make_media(folder, width, height):
    """A film that is hard to compress, and sound that shows gaps."""
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=%dx%d:r=30:d=6" % (width, height),
         "-vf", "noise=alls=6:allf=t", "-pix_fmt", "yuv420p", os.path.join(folder, "film.y4m")],
        stdin=subprocess.DEVNULL, check=True)
    sound = array.array("h", (round(9000 * math.sin(2 * math.pi * 440 * n / 48000)) for n in range(48000)))
    with wave.open(os.path.join(folder, "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48000)
        for _ in range(6):
            file.writeframes(sound.tobytes())


class Network:
    """Two namespaces with the link between them."""

    def __init__(self, link):
        self.holders = [subprocess.Popen(["unshare", "--net", "sleep", "infinity"]) for _ in ADDRESSES]
        own = os.readlink("/proc/self/ns/net")
        while any(os.readlink("/proc/%d/ns/net" % holder.pid) == own for holder in self.holders):
            time.sleep(0.02)
        for holder in self.holders:
            subprocess.run(self.inside(holder.pid) + ["ip", "link", "set", "lo", "up"], check=True)
        words = [word for holder, address in zip(self.holders, ADDRESSES) for word in (str(holder.pid), address)]
        self.link = subprocess.Popen([link] + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.link.stdout.readline() == "up\n", "the link does not come up"

    @staticmethod
    def inside(process):
        return ["nsenter", "--net=/proc/%d/ns/net" % process]

    def start(self, end, words, **options):
        return subprocess.Popen(self.inside(self.holders[end].pid) + words, **options)

    def set(self, words):
        self.link.stdin.write(words + "\n")
        self.link.stdin.flush()

    def figures(self):
        self.set("stats")
        ways = []
        for _ in ADDRESSES:
            ways.append({key: float(value) for key, value in (w.split("=") for w in self.link.stdout.readline().split()[1:])})
        return ways[0]

    def close(self):
        self.link.stdin.close()
        self.link.wait()
        for holder in self.holders:
            holder.kill()
            holder.wait()


class OffhookCall:
    name = "offhook"

    def __init__(self, network, program, python, media, folder, options):
        self.folder = folder
        log = open(os.path.join(folder, "offhook.log"), "wb")
        common = ["--ice", "on", "--srtp", "dtls", "--events", "json", "--max-bitrate", options["most"]]
        self.ends = [None, None]
        self.statistics = [os.path.join(folder, "%s.stats" % name) for name in ("sender", "receiver")]
        self.ends[1] = network.start(
            1, [program, "answer", "--calls", "1", "--bind", ADDRESSES[1] + ":5060", "--video", "recvonly", "--microphone",
                "silence", "--speaker", os.path.join(folder, "heard.wav"), "--display", "none", "--stats", self.statistics[1]] + common,
            stdout=subprocess.PIPE, stderr=log, text=True)
        self.wait_for(1, "listening")
        self.ends[0] = network.start(
            0, [program, "call", "sip:offhook@%s:5060" % ADDRESSES[1], "--bind", ADDRESSES[0] + ":5060", "--video", "sendonly",
                "--microphone", os.path.join(media, "tone.wav"), "--speaker", "none", "--camera", os.path.join(media, "film.y4m"),
                "--stats", self.statistics[0]] + common, stdout=subprocess.PIPE, stderr=log, text=True)
        self.wait_for(0, "callDidEstablish")

    def wait_for(self, end, event):
        for line in self.ends[end].stdout:
            if json.loads(line)["event"] == event:
                return
        raise SystemExit("offhook tells no " + event)

    def look(self):
        """Counts so far, and what is true at the moment."""
        samples = []
        for path in self.statistics:
            with open(path) as file:
                samples.append([json.loads(line) for line in file if line.endswith("\n")][-1])
        sender, receiver = samples
        video, audio = receiver["video"]["received"], receiver["audio"]["received"]
        return {
            "at": receiver["time"], "pictures": video["frames"], "freezes": video["freezes"], "frozen": video["frozenSeconds"],
            "bytes": video["bytes"], "concealed": audio["concealedSamples"], "samples": audio["samples"],
            "target": sender["video"]["sent"]["targetBitrate"] / 1000, "size": "%sx%s" % (video["width"], video["height"]),
            "round": (sender["video"]["sent"]["roundTrip"] or 0) * 1000, "keys": video["keyFrames"],
        }

    def close(self):
        self.ends[0].send_signal(signal.SIGINT)
        for end in self.ends:
            end.wait(20)


class ChromiumCall:
    name = "chromium"

    def __init__(self, network, program, python, media, folder, options):
        self.ends = []
        width, height = map(int, options["size"].split("x"))
        for end in range(2):
            own = os.path.join(folder, "browser%d" % end)
            os.mkdir(own)
            self.ends.append(network.start(
                end, [python, os.path.join(HERE, "chromium_end.py"), own, media], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True))
        for end in self.ends:
            assert end.stdout.readline(), "Chromium does not start"
        offer = self.ask(0, "offerFilm", width, height, 30, int(options["most"]) * 1000)
        self.ask(0, "accept", self.ask(1, "answerFilm", offer))
        self.ask(0, "connected")

    def ask(self, end, *words):
        self.ends[end].stdin.write(json.dumps(words) + "\n")
        self.ends[end].stdin.flush()
        line = self.ends[end].stdout.readline()
        assert line, "Chromium does not answer"
        return json.loads(line)

    def look(self):
        sent, received = self.ask(0, "everything"), self.ask(1, "everything")
        video, audio = received.get("inbound-video", {}), received.get("inbound-audio", {})
        return {
            "at": time.monotonic(), "pictures": video.get("framesDecoded", 0), "freezes": video.get("freezeCount", 0),
            "frozen": video.get("totalFreezesDuration", 0), "bytes": video.get("bytesReceived", 0) - video.get("retransmittedBytesReceived", 0),
            "concealed": audio.get("concealedSamples", 0), "samples": audio.get("totalSamplesReceived", 0),
            "target": sent.get("outbound-video", {}).get("targetBitrate", 0) / 1000,
            "size": "%sx%s" % (video.get("frameWidth"), video.get("frameHeight")),
            "round": sent.get("pair", {}).get("currentRoundTripTime", 0) * 1000, "keys": video.get("keyFramesDecoded", 0),
        }

    def close(self):
        for end in self.ends:
            end.stdin.close()
        for end in self.ends:
            end.wait(20)


def between(before, after):
    seconds = max(after["at"] - before["at"], 0.1)
    samples = after["samples"] - before["samples"]
    return {
        "pictures/s": round((after["pictures"] - before["pictures"]) / seconds, 1),
        "kbit/s": round((after["bytes"] - before["bytes"]) * 8 / seconds / 1000), "target": round(after["target"]),
        "size": after["size"], "freezes": after["freezes"] - before["freezes"],
        "frozen s": round(after["frozen"] - before["frozen"], 2), "key": after["keys"] - before["keys"],
        "concealed %": round(100 * (after["concealed"] - before["concealed"]) / max(1, samples), 1),
        "round trip": round(after["round"]),
    }


def window(network, call, words, options):
    network.set(words)
    time.sleep(float(options["settle"]))
    network.figures()
    before = call.look()
    time.sleep(float(options["seconds"]))
    after = call.look()
    link = network.figures()
    found = between(before, after)
    if "rate" in words:
        found.update({"longest queue ms": round(link["longest"]), "over 200 ms": link["over"]})
    return found


def step(network, call, words, options):
    """Free, 600 kbit/s from second 15 to 35, and free again."""
    network.set(words)
    time.sleep(float(options["settle"]))
    begin = time.monotonic()
    looks, links = [call.look()], [network.figures()]
    for second in range(1, 56):
        time.sleep(max(0, begin + second - time.monotonic()))
        if second in (15, 35):
            network.set("a:rate=600" if second == 15 else "a:rate=0")
        looks.append(call.look())
        links.append(network.figures())
    narrow = range(18, 36)
    carried = sum(links[t]["bytes"] - links[t - 1]["bytes"] for t in narrow) * 8 / len(narrow) / 1000
    back = next((t - 35 for t in range(36, 56) if looks[t]["target"] > 1400), None)
    found = between(looks[15], looks[55])
    found = {key: found[key] for key in ("pictures/s", "freezes", "frozen s", "key", "concealed %", "size")}
    found.update({
        "narrow: of the link %": round(carried / 6), "longest queue ms": round(max(link["longest"] for link in links[15:])),
        "over 200 ms": round(sum(link["over"] for link in links[15:]), 2), "back after s": back,
        "targets": [round(look["target"]) for look in looks[14:45]],
    })
    return found


def main():
    program, python, link, *words = sys.argv[1:]
    options = dict(OPTIONS)
    options.update(word.split("=", 1) for word in words if "=" in word)
    rows = [word for word in words if "=" not in word] or list(ROWS)
    for row in rows:
        if row not in ROWS:
            raise SystemExit("There is no row '%s'; say one of %s." % (row, " ".join(ROWS)))
    width, height = map(int, options["size"].split("x"))
    with tempfile.TemporaryDirectory(prefix="offhook-networks-") as media:
        make_media(media, width, height)
        for row in rows:
            for kind in (OffhookCall, ChromiumCall):
                if options["only"] not in ("", kind.name):
                    continue
                folder = tempfile.mkdtemp(prefix="call-", dir=media)
                network = Network(link)
                network.set("delay=" + options["delay"])
                try:
                    call = kind(network, program, python, media, folder, options)
                    found = (step if row == "step" else window)(network, call, ROWS[row], options)
                    call.close()
                finally:
                    network.close()
                load = open("/proc/loadavg").read().split()[0]
                print("%-7s %-9s %s load %s" % (row, kind.name, json.dumps(found)[1:-1].replace('"', ""), load), flush=True)
                if options["keep"] and kind is OffhookCall:
                    shutil.copytree(folder, os.path.join(options["keep"], row), dirs_exist_ok=True)


main()
