"""Reads decoded pictures: the colour bars that peers send, and Offhook's test pattern."""

import subprocess

# Of each bar, from the left: whether red, green and blue are lit.
BARS = ["111", "110", "011", "010", "101", "100", "001"]

COLUMNS, ROWS = 20, 4
# At which the pattern is read.
PATTERN_SIZE = 320, 180


def scaled(path, width, height, pixels):
    """The picture's samples at another size."""
    argv = ["ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-vf", "scale=%d:%d:flags=area" % (width, height)]
    argv += ["-f", "rawvideo", "-pix_fmt", pixels, "-"]
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True).stdout


def is_bars(path):
    """Whether the picture shows the colour bars."""
    width, height = 70, 40
    data = scaled(path, width, height, "rgb24")
    if len(data) != width * height * 3:
        return False
    found = []
    for bar in range(7):
        at = (12 * width + bar * 10 + 5) * 3
        found.append("".join("1" if sample > 96 else "0" for sample in data[at:at + 3]))
    return found == BARS


def pattern_number(path):
    """The number of Offhook's test picture, or None where the picture is none or cannot be read."""
    return number_in(scaled(path, *PATTERN_SIZE, "gray"))


def number_in(data):
    """The same for the samples of a picture of `PATTERN_SIZE`."""
    width, height = PATTERN_SIZE
    if len(data) != width * height:
        return None
    for first in (0, 45 - 2 * ROWS):
        cells = [brightness(data, width, first + 2 * row, column) for row in range(ROWS) for column in range(COLUMNS)]
        middle = (min(cells) + max(cells)) / 2
        content = bytes(
            sum(128 >> bit for bit in range(8) if cells[at + bit] > middle) for at in range(0, len(cells), 8))
        if checksum(content[:8]) == int.from_bytes(content[8:], "big"):
            return int.from_bytes(content[:3], "big")
    return None


def brightness(data, width, line, column):
    """Of the middle of a cell, which is 16 wide and 8 high at this size."""
    rows = range(line * 4 + 3, line * 4 + 6)
    return sum(data[row * width + column * 16 + across] for row in rows for across in range(6, 11))


def checksum(content):
    """CRC-16 with the polynomial of CCITT, as the pattern has it."""
    check = 0xFFFF
    for byte in content:
        check ^= byte << 8
        for _ in range(8):
            check = (check << 1 ^ 0x1021 if check & 0x8000 else check << 1) & 0xFFFF
    return check
