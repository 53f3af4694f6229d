"""aiortc as a peer: plays a tone and colour bars, keeps what it hears and the newest picture it sees."""

import asyncio
import os
import wave

import aioice.ice
import av
from aiortc import RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription
from aiortc.contrib.media import MediaPlayer

# aioice leaves loopback out, which is all that there is here.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]


class AiortcPeer:
    def __init__(self, folder, media, has_video, turn=None):
        self.folder = folder
        self.pictures = self.sounds = 0
        self.picture = None
        self.tasks = []
        self.is_connected = asyncio.Event()
        # Without a list of its own it asks a public STUN server.
        self.connection = RTCPeerConnection(RTCConfiguration([RTCIceServer(**turn)] if turn else []))
        self.connection.on("track", self.take)
        self.connection.on("connectionstatechange", self.state_changed)
        self.players = [MediaPlayer(os.path.join(media, "tone.wav"), loop=True)]
        self.tracks = [self.players[0].audio]
        if has_video:
            self.players.append(MediaPlayer(os.path.join(media, "bars.avi"), loop=True))
            self.tracks.append(self.players[1].video)

    async def open(self):
        pass

    def state_changed(self):
        if self.connection.connectionState == "connected":
            self.is_connected.set()

    def take(self, track):
        self.tasks.append(asyncio.ensure_future(self.hear(track) if track.kind == "audio" else self.see(track)))

    async def hear(self, track):
        resampler = av.AudioResampler(format="s16", layout="mono", rate=48000)
        with wave.open(os.path.join(self.folder, "received.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(48000)
            while True:
                for frame in resampler.resample(await track.recv()):
                    file.writeframes(bytes(frame.planes[0])[:frame.samples * 2])
                    self.sounds += 1

    async def see(self, track):
        while True:
            self.picture = await track.recv()
            self.pictures += 1

    async def offer(self):
        for track in self.tracks:
            self.connection.addTrack(track)
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    async def accept(self, answer):
        await self.connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    async def answer(self, offer):
        await self.connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        kinds = [transceiver.kind for transceiver in self.connection.getTransceivers()]
        for track in self.tracks:
            if track.kind in kinds and not any(sender.track is track for sender in self.connection.getSenders()):
                self.connection.addTrack(track)
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        return self.connection.localDescription.sdp

    async def connected(self):
        await asyncio.wait_for(self.is_connected.wait(), 15)

    async def snapshot(self):
        if not self.picture:
            return
        picture = self.picture.reformat(format="rgb24")
        encoder = av.CodecContext.create("png", "w")
        encoder.width, encoder.height, encoder.pix_fmt = picture.width, picture.height, "rgb24"
        encoder.time_base = picture.time_base
        with open(os.path.join(self.folder, "received.png"), "wb") as file:
            for packet in encoder.encode(picture) + encoder.encode(None):
                file.write(bytes(packet))

    async def figures(self):
        figures = {"pictures": self.pictures, "sounds": self.sounds}
        return figures

    async def close(self):
        await self.connection.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
