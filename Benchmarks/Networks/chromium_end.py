"""chromium_end.py FOLDER MEDIA: one end of a call between browsers. Each line that it reads is a list of a function of the
page and its arguments, in JSON; for each it writes what that returns."""

import asyncio
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "Peers", "webrtc"))

from chromium_peer import ChromiumPeer  # noqa: E402

PAGE = """
window.offerFilm = async (width, height, pictures, most) => {
  const film = await navigator.mediaDevices.getUserMedia({
    video: {width: {exact: width}, height: {exact: height}, frameRate: pictures},
    audio: {echoCancellation: false, noiseSuppression: false, autoGainControl: false}});
  const [picture] = film.getVideoTracks();
  picture.contentHint = "motion";
  connection.addTransceiver(film.getAudioTracks()[0], {direction: "sendonly", streams: [film]});
  const sender = connection.addTransceiver(picture, {direction: "sendonly", streams: [film]});
  const codecs = RTCRtpReceiver.getCapabilities("video").codecs;
  sender.setCodecPreferences(codecs.filter(codec => /VP8|rtx/i.test(codec.mimeType)));
  await connection.setLocalDescription();
  const sdp = await gathered();
  const parameters = sender.sender.getParameters();
  parameters.encodings[0].maxBitrate = most;
  await sender.sender.setParameters(parameters);
  return sdp;
};
window.answerFilm = async sdp => {
  await connection.setRemoteDescription({type: "offer", sdp});
  await connection.setLocalDescription();
  return gathered();
};
window.everything = async () => {
  const found = {};
  (await connection.getStats()).forEach(each => {
    if (["inbound-rtp", "outbound-rtp"].includes(each.type)) found[each.type.split("-")[0] + "-" + each.kind] = each;
    if (each.type === "candidate-pair" && each.nominated) found.pair = each;
  });
  return found;
};
"""


class FilmPeer(ChromiumPeer):
    def make_film(self):
        return os.path.join(self.media, "film.y4m")


async def main():
    folder, media = sys.argv[1:]
    os.environ["HOME"] = folder
    peer = FilmPeer(folder, media, True)
    await peer.open()
    await peer.evaluate(PAGE)
    loop = asyncio.get_running_loop()
    print(json.dumps("ready"), flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        function, *arguments = json.loads(line)
        print(json.dumps(await peer.run(function, *arguments)), flush=True)
    await peer.close()


asyncio.run(main())
