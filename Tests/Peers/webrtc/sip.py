"""A small SIP user agent over UDP and TCP that carries the descriptions of another program: one call, either way."""

import asyncio
import random
import re


def token(length=10):
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=length))


class Message:
    def __init__(self, text, reply):
        head, _, self.body = text.partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        self.reply = reply
        self.code = int(first.split(" ")[1]) if first.startswith("SIP/2.0") else None
        self.method = None if self.code else first.split(" ")[0]
        self.headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    def all(self, name):
        return [value for found, value in self.headers if found == name]

    def get(self, name):
        return (self.all(name) or [""])[0]

    @property
    def cseq(self):
        number, method = self.get("cseq").split()
        return int(number), method


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, agent):
        self.agent = agent

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, source):
        self.agent.take(data.decode(errors="replace"), lambda text: self.transport.sendto(text.encode(), source))


class SIPAgent:
    """`call` and `incoming` bring a call up; `is_ended` is set once either side has hung up."""

    def __init__(self, port, user="peer"):
        self.port = port
        self.contact = "<sip:%s@127.0.0.1:%d>" % (user, port)
        self.me = "<sip:%s@127.0.0.1>;tag=%s" % (user, token())
        self.cseq = random.randint(1, 900)
        self.waiting = {}
        self.invites = asyncio.Queue()
        self.is_acknowledged = asyncio.Event()
        self.is_ended = asyncio.Event()
        # Answers to the far end's re-INVITE; without it they are declined.
        self.on_offer = None
        # Takes the body of an INFO with candidates; without it none are taken.
        self.on_candidates = None
        # What NOTIFY said.
        self.news = []
        self.replies = {}

    async def open(self):
        loop = asyncio.get_running_loop()
        _, self.datagrams = await loop.create_datagram_endpoint(lambda: Datagrams(self), ("127.0.0.1", self.port))
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?im)^(?:content-length|l)\s*:\s*(\d+)", head)
                body = await reader.readexactly(int(length[1])) if length else b""
                self.take((head + body).decode(errors="replace").lstrip("\r\n"), lambda text: writer.write(text.encode()))
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass

    def take(self, text, reply):
        if not text.strip():
            return
        message = Message(text, reply)
        if message.code:
            future = self.waiting.get(message.cseq)
            if future and not future.done() and message.code >= 200:
                future.set_result(message)
            elif message.code >= 200 and message.cseq[1] == "INVITE" and self.acknowledgement:
                self.send(self.acknowledgement)
            return
        if message.method == "ACK":
            return self.is_acknowledged.set()
        if (message.get("call-id"), message.cseq) in self.replies:
            return reply(self.replies[message.get("call-id"), message.cseq])
        if message.method == "INFO" and message.get("info-package") == "trickle-ice":
            self.answer(message, 200, "OK")
            asyncio.ensure_future(self.on_candidates(message.body))
        elif message.method == "INVITE" and "tag=" in message.get("to"):
            asyncio.ensure_future(self.take_offer(message))
        elif message.method == "INVITE":
            self.answer(message, 100, "Trying")
            self.invites.put_nowait(message)
        else:
            self.answer(message, 200, "OK")
            if message.method == "NOTIFY":
                self.news.append(message.body.strip())
            if message.method in ("BYE", "CANCEL"):
                self.is_ended.set()

    async def take_offer(self, message):
        if self.on_offer:
            self.answer(message, 200, "OK", await self.on_offer(message.body))
        else:
            self.answer(message, 488, "Not Acceptable Here")

    def answer(self, request, code, reason, body=""):
        to = request.get("to")
        if "tag=" not in to and code > 100:
            to += ";" + self.me.partition(";")[2]
        lines = ["SIP/2.0 %d %s" % (code, reason)]
        lines += ["Via: " + via for via in request.all("via")] + ["Record-Route: " + route for route in request.all("record-route")]
        lines += ["From: " + request.get("from"), "To: " + to, "Call-ID: " + request.get("call-id"), "CSeq: " + request.get("cseq")]
        text = self.whole(lines, body)
        self.replies[request.get("call-id"), request.cseq] = text
        request.reply(text)

    def whole(self, lines, body):
        lines = lines + ["Contact: " + self.contact, "Allow: INVITE, ACK, CANCEL, BYE, INFO"]
        if self.on_candidates:
            lines += ["Supported: trickle-ice", "Recv-Info: trickle-ice"]
        if body:
            lines.append("Content-Type: " + ("application/sdp" if body.startswith("v=") else "application/trickle-ice-sdpfrag"))
        return "\r\n".join(lines + ["Content-Length: %d" % len(body.encode())]) + "\r\n\r\n" + body

    def send(self, text):
        self.datagrams.transport.sendto(text.encode(), self.remote)

    def request(self, method, cseq, body="", fields=()):
        lines = ["%s %s SIP/2.0" % (method, self.target), "Via: SIP/2.0/UDP 127.0.0.1:%d;branch=z9hG4bK%s;rport" % (self.port, token()),
                 "Max-Forwards: 70", "From: " + self.me, "To: " + self.to, "Call-ID: " + self.call_id, "CSeq: %d %s" % (cseq, method), *fields]
        if method == "INFO":
            lines += ["Info-Package: trickle-ice", "Content-Disposition: Info-Package"]
        return self.whole(lines, body)

    def aim(self, address):
        self.target = re.search(r"sip:[^>;]+", address)[0]
        host, _, port = self.target.rpartition("@")[2].partition(":")
        self.remote = (host, int(port or 5060))

    async def exchange(self, method, body="", fields=()):
        """Sends a request until its final response is there."""
        self.cseq += 1
        key = (self.cseq, method)
        future = self.waiting[key] = asyncio.get_running_loop().create_future()
        text = self.request(method, self.cseq, body, fields)
        for seconds in (0.5, 1, 2, 4, 8):
            self.send(text)
            done, _ = await asyncio.wait([future], timeout=seconds if method != "INVITE" else 15)
            if done:
                break
        message = await asyncio.wait_for(future, 0.1)
        del self.waiting[key]
        if method == "INVITE":
            if message.code == 200:
                self.to = message.get("to")
                self.aim(message.get("contact"))
            self.acknowledgement = self.request("ACK", key[0])
            self.send(self.acknowledgement)
        return message

    async def call(self, address, offer, fields=()):
        """The far end's answer; `fields` are further header lines of the INVITE."""
        self.call_id = token(20)
        self.to = "<%s>" % address
        self.aim(address)
        return await self.offer(offer, fields)

    async def offer(self, offer, fields=()):
        message = await self.exchange("INVITE", offer, fields)
        if message.code != 200:
            raise RuntimeError("the INVITE was answered with %d" % message.code)
        return message.body

    acknowledgement = None

    async def incoming(self, rings=True):
        message = await self.invites.get()
        if rings:
            self.answer(message, 180, "Ringing")
        self.call_id = message.get("call-id")
        self.to = message.get("from")
        self.me = message.get("to") + ";" + self.me.partition(";")[2]
        self.aim(message.get("contact"))
        return message

    async def accept(self, message, answer):
        self.answer(message, 200, "OK", answer)
        text = self.replies[message.get("call-id"), message.cseq]
        for seconds in (0.5, 1, 2, 4):
            try:
                return await asyncio.wait_for(self.is_acknowledged.wait(), seconds)
            except asyncio.TimeoutError:
                message.reply(text)
        raise RuntimeError("no ACK came")

    async def tell_candidates(self, fragment):
        message = await self.exchange("INFO", fragment)
        if message.code != 200:
            raise RuntimeError("candidates were answered with %d" % message.code)

    async def hang_up(self):
        if not self.is_ended.is_set():
            await self.exchange("BYE")
            self.is_ended.set()
