"""Finds a tone in a recording."""

import array
import math
import struct


def read(path):
    """(rate, samples of the first channel) of a 16-bit WAV file, even if its lengths were never filled in."""
    with open(path, "rb") as file:
        data = file.read()
    place, rate, channels = 12, 0, 1
    while data[:4] == b"RIFF" and place + 8 <= len(data):
        name, size = struct.unpack("<4sI", data[place:place + 8])
        body = data[place + 8:place + 8 + size]
        if name == b"fmt ":
            _, channels, rate = struct.unpack("<HHI", body[:8])
        if name == b"data":
            body = data[place + 8:] if size == 0 else body
            samples = array.array("h", body[:len(body) // (2 * channels) * 2 * channels])
            return rate, samples[::channels]
        place += 8 + size + (size & 1)
    return rate, array.array("h")


def has_tone(samples, rate, hertz):
    """Whether most of the energy is in one tone (Goertzel)."""
    factor = 2 * math.cos(2 * math.pi * hertz / rate)
    last = before = energy = 0.0
    for sample in samples:
        last, before = sample + factor * last - before, last
        energy += sample * sample
    power = last * last + before * before - factor * last * before
    return energy > 40000 * len(samples) and power > 0.35 * energy * len(samples)


def pieces(path, hertz):
    """For each tenth of a second whether the tone is in it."""
    rate, samples = read(path)
    size = rate // 10
    if size == 0:
        return []
    return [has_tone(samples[at:at + size], rate, hertz) for at in range(0, len(samples) - size + 1, size)]


def seconds(path, hertz):
    """For how long the tone sounds."""
    return sum(pieces(path, hertz)) / 10
