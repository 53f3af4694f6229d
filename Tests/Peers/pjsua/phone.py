"""phone.py FOLDER SOUND PORT MEDIA_ADDRESS SECURITY ICE: a phone made of PJSUA2, with a file for a microphone and one for a speaker.

It answers what comes in. What it is told on its standard input: `call ADDRESS`, `hangup`, `hold`, `resume`, `digits KEYS`,
`transfer ADDRESS` and `quit`. It prints one JSON object a line: ready, established, ended, digit, transferred, held, failed.
SECURITY is none or sdes.
"""

import json
import os
import select
import sys

import pjsua2


def tell(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


class Call(pjsua2.Call):
    def __init__(self, phone, number=pjsua2.PJSUA_INVALID_ID):
        super().__init__(phone.account, number)
        self.phone = phone

    def onCallState(self, _):
        info = self.getInfo()
        if info.state == pjsua2.PJSIP_INV_STATE_CONFIRMED:
            tell("established")
        elif info.state == pjsua2.PJSIP_INV_STATE_DISCONNECTED:
            tell("ended", status=info.lastStatusCode, reason=info.lastReason)

    def onCallMediaState(self, _):
        info = self.getInfo()
        for media in info.media:
            if media.type == pjsua2.PJMEDIA_TYPE_AUDIO and media.status == pjsua2.PJSUA_CALL_MEDIA_ACTIVE:
                sound = self.getAudioMedia(media.index)
                self.phone.player.startTransmit(sound)
                sound.startTransmit(self.phone.recorder)

    def onDtmfDigit(self, parameters):
        tell("digit", digit=parameters.digit)

    def onCallTransferRequest(self, parameters):
        self.phone.next = parameters.newCall = Call(self.phone)

    def onCallTransferStatus(self, parameters):
        tell("transferred", status=parameters.statusCode, final=parameters.finalNotify)
        # Once the far end has reached the other, this call is over.
        parameters.cont = not parameters.finalNotify
        if parameters.finalNotify and parameters.statusCode == 200:
            self.phone.ends = True


class Account(pjsua2.Account):
    def onIncomingCall(self, parameters):
        self.phone.call = Call(self.phone, parameters.callId)
        answer = pjsua2.CallOpParam()
        answer.statusCode = 180
        self.phone.call.answer(answer)
        answer.statusCode = 200
        self.phone.call.answer(answer)


class Phone:
    call = next = None
    ends = False

    def __init__(self, folder, sound, port, media_address, security, ice):
        self.endpoint = pjsua2.Endpoint()
        self.endpoint.libCreate()
        configuration = pjsua2.EpConfig()
        configuration.uaConfig.threadCnt = 0
        configuration.uaConfig.mainThreadOnly = True
        configuration.logConfig.level = 5
        configuration.logConfig.consoleLevel = 0
        configuration.logConfig.filename = os.path.join(folder, "pjsua.log")
        configuration.medConfig.noVad = True
        configuration.medConfig.ecTailLen = 0
        self.endpoint.libInit(configuration)
        transport = pjsua2.TransportConfig()
        transport.port = port
        transport.boundAddress = "127.0.0.1"
        self.endpoint.transportCreate(pjsua2.PJSIP_TRANSPORT_UDP, transport)
        self.endpoint.transportCreate(pjsua2.PJSIP_TRANSPORT_TCP, transport)
        self.endpoint.libStart()
        self.endpoint.audDevManager().setNullDev()
        account = pjsua2.AccountConfig()
        account.idUri = "sip:dave@127.0.0.1:%d" % port
        account.mediaConfig.transportConfig.port = 41000
        account.mediaConfig.transportConfig.boundAddress = media_address
        account.natConfig.iceEnabled = ice
        if security != "none":
            account.mediaConfig.srtpUse = pjsua2.PJMEDIA_SRTP_MANDATORY
            account.mediaConfig.srtpSecureSignaling = 0
        self.account = Account()
        self.account.phone = self
        self.account.create(account)
        self.player = pjsua2.AudioMediaPlayer()
        self.player.createPlayer(sound)
        self.recorder = pjsua2.AudioMediaRecorder()
        self.recorder.createRecorder(os.path.join(folder, "received.wav"))

    def obey(self, word, arguments):
        parameters = pjsua2.CallOpParam(True)
        if word == "call":
            self.call = Call(self)
            self.call.makeCall(arguments[0], parameters)
        elif word == "hangup":
            self.call.hangup(parameters)
        elif word == "hold":
            self.call.setHold(parameters)
        elif word == "resume":
            parameters.opt.flag = pjsua2.PJSUA_CALL_UNHOLD
            self.call.reinvite(parameters)
        elif word == "digits":
            self.call.dialDtmf(arguments[0])
        elif word == "transfer":
            self.call.xfer(arguments[0], parameters)

    def run(self):
        tell("ready")
        waiting = b""
        while True:
            self.endpoint.libHandleEvents(20)
            if self.ends:
                self.ends = False
                self.obey("hangup", [])
            if not select.select([0], [], [], 0)[0]:
                continue
            data = os.read(0, 4096)
            if not data:
                break
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                word, *arguments = line.decode().split()
                if word == "quit":
                    return
                try:
                    self.obey(word, arguments)
                except pjsua2.Error as error:
                    tell("failed", reason="%s: %s" % (word, error.info()))

    def close(self):
        # The file has its length from then on.
        del self.player, self.recorder
        self.call = self.next = None
        self.endpoint.libDestroy()


folder, sound, port, media_address, security, ice = sys.argv[1:]
phone = Phone(folder, sound, int(port), media_address, security, ice == "yes")
phone.run()
phone.close()
