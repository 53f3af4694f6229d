"""Calls recorded to WebM: ffmpeg must play all of them, and find in them what each side sent, when it did."""

import array
import math
import statistics
import time
import wave

from lab import picture, recording, sound
from lab.lab import wait_for
from lab.media import OFFHOOK_TONE
from lab.offhook import ADDRESS, Offhook

from . import calls
from .registry import add


def recorded_call(kind, codec):
    def body(lab):
        file = lab.path("call.webm")
        peer = calls.PEERS[kind](lab, video=True, codec=codec)
        program = calls.start(
            lab, peer, True, "--audio-codecs", codec, "--srtp", "off", "--video", "sendrecv", "--record", file)
        program.wait_for_channel("sendReceive")
        calls.wait_for_picture(lab, peer)
        time.sleep(5)
        peer.hang_up()
        program.finish()
        check_file(lab, file)
        heard = sound.seconds(recording.save_sound(file, "a:0", lab.path("remote.wav")), peer.tone)
        lab.check(heard >= 2, "the far end's tone is in the recording for %.1f s only" % heard)
        heard = sound.seconds(recording.save_sound(file, "a:1", lab.path("local.wav")), OFFHOOK_TONE)
        lab.check(heard >= 2, "our tone is in the recording for %.1f s only" % heard)
        lab.check(picture.is_bars(recording.save_picture(file, "v:0", lab.path("remote.png"))),
                  "the far end's picture is not the colour bars")
    return body


def check_file(lab, file, is_finished=True):
    """What holds for every recording in which this side sends the pattern."""
    streams = recording.streams(file)
    lab.need([stream.split()[0] for stream in streams] == ["vp8", "opus", "vp8", "opus"], "the tracks are %s" % streams)
    trouble = recording.complaints(file)
    lab.check(not trouble, "ffmpeg complains: " + trouble[:200])
    packets = recording.packets(file, "v:1")
    lab.check(packets[0][1], "our pictures do not begin with a key frame")
    seconds = recording.duration(file)
    lab.check(abs(seconds - packets[-1][0]) < 1, "the recording says it lasts %.1f s" % seconds)
    check_numbers(lab, recording.numbers(file, "v:1"), len(packets))
    # To where a key frame is, and what follows.
    place = packets[-1][0] - 2
    after = [at for at, _ in packets if at >= max(at for at, is_key in packets if is_key and at <= place)]
    found = recording.numbers(file, "v:1", start=place)
    lab.check(0 < len(found) <= len(after), "%d pictures after seeking, not %d" % (len(found), len(after)))
    lab.note("%.1f s, %d pictures" % (seconds, len(packets)))


def check_numbers(lab, numbers, count):
    readable = [number for number in numbers if number is not None]
    lab.check(len(numbers) == count, "%d of %d pictures can be decoded" % (len(numbers), count))
    lab.check(len(readable) >= 0.95 * len(numbers), "only %d of %d pictures can be read" % (len(readable), len(numbers)))
    lab.check(readable == sorted(set(readable)), "pictures are out of order: %s" % readable)


BURSTS = [0.3, 1.0, 1.9, 2.4, 3.5, 4.1, 4.9, 5.8, 6.5, 7.2, 8.3, 9.1]


def write_bursts(path, rate=48000):
    """Ten seconds with a tenth of a second of tone at times that are like no others."""
    samples = array.array("h", bytes(2 * rate * 10))
    for begin in BURSTS:
        for n in range(rate // 10):
            samples[int(begin * rate) + n] = round(13000 * math.sin(2 * math.pi * 1000 * n / rate))
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return path


def in_sync_and_killed(lab):
    """What one end recorded of itself the other recorded of it, as late for the sound as for the pictures.

    The caller is killed in the end: its file lacks a second at most."""
    bursts = write_bursts(lab.path("bursts.wav"))
    files = [lab.path("caller.webm"), lab.path("callee.webm")]
    callee = Offhook.answering(lab, "--calls", "1", "--video", "sendrecv", "--record", files[1], name="callee")
    caller = Offhook.calling(
        lab, ADDRESS, "--video", "sendrecv", "--record", files[0], "--microphone", bursts, "--camera",
        "pattern:320x180@15", name="caller", port=5080)
    caller.need_event("callDidEstablish", 15)
    callee.wait_for_channel("sendReceive")
    begin = time.monotonic()
    time.sleep(9)
    before = wait_for(lambda: caller.samples, 5)[-1]
    caller.process.kill()
    lasted = time.monotonic() - begin
    caller.process.wait()
    callee.interrupt()
    callee.wait(15)
    lab.need(before["audio"]["sent"]["packets"] > 0, "nothing was sent")

    check_file(lab, files[0])
    missing = lasted - recording.packets(files[0], "v:1")[-1][0]
    lab.check(missing < 1.3, "the killed end's file lacks %.2f s" % missing)
    trouble = recording.complaints(files[1])
    lab.check(not trouble, "ffmpeg complains: " + trouble[:200])

    sent, received = [times_of_numbers(files[0], "v:1"), times_of_numbers(files[1], "v:0")]
    delays = [received[number] - sent[number] for number in sent.keys() & received.keys() if number is not None]
    lab.need(len(delays) > 8, "only %d pictures are in both files" % len(delays))
    heard = [recording.onsets(recording.save_sound(file, stream, lab.path("%s.wav" % name)))
             for file, stream, name in ((files[0], "a:1", "sent"), (files[1], "a:0", "received"))]
    lags = matches(*heard, statistics.median(delays))
    lab.need(len(lags) >= 4, "only %d bursts are in both files: %s" % (len(lags), heard))
    # Of the last half, when the far end has told its clock.
    error = statistics.median(lags[len(lags) // 2:]) - statistics.median(delays[len(delays) // 2:])
    # On a busy machine; less than ten milliseconds are usual.
    lab.check(abs(error) < 0.04, "sound is %.0f ms behind the picture" % (1000 * error))
    lab.note("sound %+.0f ms against the picture, the killed end lacks %.2f s" % (1000 * error, missing))


def times_of_numbers(file, stream):
    return {number: at for number, (at, _) in zip(recording.numbers(file, stream), recording.packets(file, stream))}


def matches(sent, received, about):
    """How much later each burst is in the second file, which is about so much."""
    lags = []
    for at in sent:
        near = [other - at for other in received if abs(other - at - about) < 0.2]
        if near:
            lags.append(min(near, key=lambda lag: abs(lag - about)))
    return lags


add("baresip-calls-offhook-recorded", recorded_call("baresip", "opus"))
add("linphone-calls-offhook-recorded-pcmu", recorded_call("linphone", "pcmu"))
add("recording-in-sync-and-killed", in_sync_and_killed)
