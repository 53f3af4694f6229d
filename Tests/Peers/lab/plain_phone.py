"""A phone of a few lines: PCMU without encryption, for what no softphone at hand can do."""

import array
import asyncio
import math
import random
import re
import struct
import wave

from webrtc.sip import SIPAgent

RATE = 8000
FRAME = 160


def encode(sample):
    """G.711 µ-law."""
    sign = 0x80 if sample < 0 else 0
    level = min(abs(sample), 32635) + 132
    exponent = level.bit_length() - 8
    return ~(sign | exponent << 4 | level >> exponent + 3 & 15) & 255


def decode(byte):
    byte = ~byte & 255
    level = ((byte & 15) << 3 | 132) << (byte >> 4 & 7)
    return 132 - level if byte & 128 else level - 132


DECODED = [decode(byte) for byte in range(256)]


class PlainPhone(asyncio.DatagramProtocol):
    """Sends one tone and keeps what it hears."""

    def __init__(self, port, hertz):
        self.agent = SIPAgent(port)
        self.rtp_port = port + 1000
        self.tone = bytes(encode(round(13000 * math.sin(2 * math.pi * hertz * n / RATE))) for n in range(RATE))
        self.heard = array.array("h")
        self.remote = None
        self.version = 0

    async def open(self):
        await self.agent.open()
        loop = asyncio.get_running_loop()
        self.media, _ = await loop.create_datagram_endpoint(lambda: self, ("127.0.0.1", self.rtp_port))
        self.sending = asyncio.ensure_future(self.send())

    def datagram_received(self, data, source):
        if len(data) > 12 and data[1] & 127 == 0:
            self.heard.extend(DECODED[byte] for byte in data[12:])

    async def send(self):
        begin = asyncio.get_running_loop().time()
        source = random.getrandbits(32)
        for number in range(1 << 16):
            at = number * FRAME % RATE
            if self.remote:
                head = struct.pack(">BBHII", 128, 0, number, number * FRAME, source)
                self.media.sendto(head + self.tone[at:at + FRAME], self.remote)
            await asyncio.sleep(max(0, begin + (number + 1) * FRAME / RATE - asyncio.get_running_loop().time()))

    def description(self, direction):
        self.version += 1
        return "".join(line + "\r\n" for line in [
            "v=0", "o=- 1 %d IN IP4 127.0.0.1" % self.version, "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
            "m=audio %d RTP/AVP 0" % self.rtp_port, "a=" + direction])

    def aim(self, description):
        self.remote = ("127.0.0.1", int(re.search(r"m=audio (\d+)", description)[1]))

    async def call(self, address, *fields):
        self.aim(await self.agent.call(address, self.description("sendrecv"), fields))

    async def answer(self):
        """Takes the next call without ringing; the header fields of its INVITE."""
        invite = await self.agent.incoming(rings=False)
        self.aim(invite.body)
        await self.agent.accept(invite, self.description("sendrecv"))
        return invite

    async def hold(self):
        await self.agent.offer(self.description("sendonly"))

    async def transfer(self, address):
        """The status that a REFER gets."""
        fields = ["Refer-To: <%s>" % address, "Referred-By: " + self.agent.contact]
        return (await self.agent.exchange("REFER", fields=fields)).code

    async def told(self, words, seconds=10):
        """Whether a NOTIFY said so."""
        for _ in range(seconds * 10):
            if any(words in body for body in self.agent.news):
                return True
            await asyncio.sleep(0.1)
        return False

    @property
    def dialog(self):
        """The call as Join and Replaces of others name it, who see it from the far end."""
        tag = re.compile(r"tag=([^;>]+)")
        return "%s;to-tag=%s;from-tag=%s" % (
            self.agent.call_id, tag.search(self.agent.to)[1], tag.search(self.agent.me)[1])

    async def hang_up(self):
        await self.agent.hang_up()
        self.sending.cancel()

    def write(self, path):
        with wave.open(path, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(self.heard.tobytes())
