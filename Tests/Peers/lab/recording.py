"""Reads recorded calls with ffmpeg, which shares no line with what wrote them."""

import json
import subprocess

from . import picture, sound


def run(argv, **named):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, **named)


def probe(path):
    """Format and streams."""
    argv = ["ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", path]
    return json.loads(run(argv).stdout or b"{}")


def streams(path):
    """Of each track its codec and size or channels, as in `vp8 320x180`."""
    found = []
    for stream in probe(path).get("streams", []):
        more = "%dx%d" % (stream["width"], stream["height"]) if "width" in stream else "%d" % stream["channels"]
        found.append(stream["codec_name"] + " " + more)
    return found


def duration(path):
    return float(probe(path).get("format", {}).get("duration", 0))


def complaints(path):
    """What ffmpeg says against the file when it decodes all of it."""
    result = run(["ffmpeg", "-v", "warning", "-xerror", "-i", path, "-map", "0", "-fps_mode", "passthrough", "-enc_time_base", "-1",
                  "-f", "null", "-"])
    return result.stderr.decode(errors="replace").strip() or (result.returncode and "status %d" % result.returncode) or ""


def packets(path, stream):
    """(seconds, whether a key frame) of each packet of a stream, as `v:0`."""
    argv = ["ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", path]
    lines = run(argv).stdout.decode().split()
    return [(float(line.split(",")[0]), "K" in line.split(",")[1]) for line in lines if not line.startswith("N/A")]


def pictures(path, stream="v:0", start=None):
    """Every decoded picture of a stream, scaled for the pattern's reader; with `start` from there on."""
    width, height = picture.PATTERN_SIZE
    seek = ["-ss", str(start)] if start is not None else []
    argv = ["ffmpeg", "-v", "error", *seek, "-i", path, "-map", "0:" + stream, "-fps_mode", "passthrough"]
    argv += ["-vf", "scale=%d:%d:flags=area" % (width, height), "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    data = run(argv).stdout
    size = width * height
    return [data[at:at + size] for at in range(0, len(data) - size + 1, size)]


def numbers(path, stream="v:0", start=None):
    """The numbers of the pattern's pictures, None for those that cannot be read."""
    return [picture.number_in(data) for data in pictures(path, stream, start)]


def save_sound(path, stream, to):
    """Writes a track of sound as WAV whose begin is the recording's."""
    run(["ffmpeg", "-v", "error", "-y", "-i", path, "-map", "0:" + stream, "-af", "aresample=async=1:first_pts=0", "-ac", "1", to])
    return to


def save_picture(path, stream, to):
    """Writes the last picture of a track."""
    run(["ffmpeg", "-v", "error", "-y", "-i", path, "-map", "0:" + stream, "-update", "1", to])
    return to


def onsets(path, quiet=0.2):
    """When in a WAV file sound begins after silence, in seconds."""
    rate, samples = sound.read(path)
    step = rate // 500
    found, last = [], -quiet
    for at in range(0, len(samples) - step, step):
        if max(abs(sample) for sample in samples[at:at + step]) > 3000:
            if at / rate - last >= quiet:
                found.append(at / rate)
            last = at / rate
    return found
