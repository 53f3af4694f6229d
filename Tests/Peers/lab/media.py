"""The tones and pictures that peers send."""

import array
import math
import os
import subprocess
import wave

# Each end of a call has a tone of its own, so that nobody is taken for themselves.
BARESIP_TONE = 440
LINPHONE_TONE = 880
OFFHOOK_TONE = 1320


def make(folder):
    os.makedirs(folder)
    write_tone(os.path.join(folder, "tone.wav"), LINPHONE_TONE)
    bars = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i"]
    clip = bars + ["smptebars=size=320x240:rate=15", "-t", "20", "-c:v", "mpeg4", "-q:v", "3", "bars.avi"]
    subprocess.run(clip, cwd=folder, check=True)
    subprocess.run(bars + ["smptebars=size=352x288", "-frames:v", "1", "bars.jpg"], cwd=folder, check=True)


def write_tone(path, hertz, rate=48000, seconds=60):
    # One second repeats, since every tone here has whole waves in it.
    second = array.array("h", (round(13000 * math.sin(2 * math.pi * hertz * n / rate)) for n in range(rate)))
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        for _ in range(seconds):
            file.writeframes(second.tobytes())
