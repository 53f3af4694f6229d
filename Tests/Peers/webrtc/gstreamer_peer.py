"""GStreamer's webrtcbin as a peer."""

import asyncio
import os
import re

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

SOUND = """audiotestsrc is-live=true freq=880 volume=0.4 ! audio/x-raw,rate=48000,channels=1 ! opusenc ! rtpopuspay pt={pt}
  ! application/x-rtp,media=audio,encoding-name=OPUS,payload={pt} ! ends."""
PICTURES = """videotestsrc is-live=true pattern=smpte ! video/x-raw,width=352,height=288,framerate=15/1
  ! vp8enc deadline=1 cpu-used=8 target-bitrate=500000 keyframe-max-dist=30 ! rtpvp8pay pt={pt} picture-id-mode=15-bit
  ! application/x-rtp,media=video,encoding-name=VP8,payload={pt} ! ends."""
HEARD = "rtpopusdepay ! opusdec ! audioconvert ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! wavenc ! filesink location={path}"
SEEN = """rtpvp8depay name=depay ! vp8dec ! videoconvert ! pngenc compression-level=1
  ! appsink name=newest max-buffers=1 drop=true sync=false"""


class GStreamerPeer:
    def __init__(self, folder, has_video, bundles):
        self.folder, self.has_video = folder, has_video
        # By its own default each line has its own transport.
        self.policy = "max-bundle" if bundles else "none"
        self.counts = {"sounds": 0, "pictures": 0}
        self.newest = None

    async def open(self):
        Gst.init(None)

    def start(self, opus=111, vp8=96):
        lines = ["webrtcbin name=ends bundle-policy=%s" % self.policy]
        if opus is not None:
            lines.append(SOUND.format(pt=opus))
        if vp8 is not None:
            lines.append(PICTURES.format(pt=vp8))
        self.pipeline = Gst.parse_launch("\n".join(lines))
        self.ends = self.pipeline.get_by_name("ends")
        self.ends.connect("pad-added", self.take)
        self.pipeline.set_state(Gst.State.PLAYING)

    def take(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        is_sound = pad.get_current_caps().get_structure(0).get_string("media") == "audio"
        words = HEARD.format(path=os.path.join(self.folder, "received.wav")) if is_sound else SEEN
        branch = Gst.parse_bin_from_description(words, True)
        name = "sounds" if is_sound else "pictures"

        def count(_pad, _info):
            self.counts[name] += 1
            return Gst.PadProbeReturn.OK
        counted = pad if is_sound else branch.get_by_name("depay").get_static_pad("src")
        counted.add_probe(Gst.PadProbeType.BUFFER, count)
        if not is_sound:
            self.newest = branch.get_by_name("newest")
        self.pipeline.add(branch)
        branch.sync_state_with_parent()
        pad.link(branch.get_static_pad("sink"))

    async def ask(self, signal, *arguments):
        """Waits for what comes of a signal, which other threads work on."""
        promise = Gst.Promise.new()
        self.ends.emit(signal, *arguments, promise)
        await asyncio.get_running_loop().run_in_executor(None, promise.wait)
        reply = promise.get_reply()
        if reply is not None and reply.has_field("error"):
            raise RuntimeError("%s: %s" % (signal, reply.get_value("error")))
        return reply

    async def describe(self, kind):
        reply = await self.ask("create-" + kind, None)
        await self.ask("set-local-description", reply.get_value(kind))
        while self.ends.get_property("ice-gathering-state") != GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            await asyncio.sleep(0.02)
        return self.ends.get_property("local-description").sdp.as_text()

    async def set_remote(self, kind, text):
        _, sdp = GstSdp.SDPMessage.new_from_text(text)
        await self.ask("set-remote-description", GstWebRTC.WebRTCSessionDescription.new(kind, sdp))

    async def offer(self):
        self.start(vp8=96 if self.has_video else None)
        await self.flows()
        return await self.describe("offer")

    async def flows(self):
        """An offer has what the first packets tell of."""
        while any(pad.get_current_caps() is None for pad in self.ends.sinkpads):
            await asyncio.sleep(0.02)

    async def accept(self, answer):
        await self.set_remote(GstWebRTC.WebRTCSDPType.ANSWER, answer)

    async def answer(self, offer):
        numbers = {name.lower(): int(number) for number, name in re.findall(r"a=rtpmap:(\d+) (\w+)/", offer)}
        if not hasattr(self, "pipeline"):
            self.start(numbers.get("opus"), numbers.get("vp8") if self.has_video else None)
            await self.flows()
        await self.set_remote(GstWebRTC.WebRTCSDPType.OFFER, offer)
        return await self.describe("answer")

    async def connected(self):
        for _ in range(750):
            state = self.ends.get_property("connection-state")
            if state == GstWebRTC.WebRTCPeerConnectionState.CONNECTED:
                return
            await asyncio.sleep(0.02)
        raise RuntimeError("not connected: %s, ICE %s" % (state, self.ends.get_property("ice-connection-state")))

    async def snapshot(self):
        sample = self.newest and self.newest.emit("try-pull-sample", Gst.SECOND)
        if sample:
            buffer = sample.get_buffer()
            with open(os.path.join(self.folder, "received.png"), "wb") as file:
                file.write(buffer.extract_dup(0, buffer.get_size()))

    async def figures(self):
        return dict(self.counts)

    async def close(self):
        self.pipeline.set_state(Gst.State.NULL)
