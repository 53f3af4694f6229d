import Offhook
import Testing

@testable import SoftphoneKit

@Suite struct `A script` {
    @Test func `steps come in order of time and those of one time as written`() throws {
        let script = try Script(parsing: "4.5:unhold,2:hold,2:mute,6:video=recvonly,7:dtmf=12#,8:end")

        #expect(
            script.steps.map(\.command) == [.hold, .mute, .unhold, .video(.receiveOnly), .dtmf("12#"), .end])
        #expect(script.steps.map(\.after) == [2, 2, 4.5, 6, 7, 8].map { .milliseconds(Int($0 * 1000)) })
    }

    @Test func `what is done to a ringing call is apart from what is done to one that is up`() throws {
        let script = try Script(parsing: "0:ignore,3:deny=busy,1:hold,4:redirect=sip:bob@example.org")

        #expect(
            script.steps(forRinging: true).map(\.command) == [.ignore, .deny(.busy), .redirect("sip:bob@example.org")])
        #expect(script.steps(forRinging: false).map(\.command) == [.hold])
    }

    @Test func `addresses and cameras keep their colons`() throws {
        let script = try Script(
            parsing: "1:transfer=sip:carol@example.org:5070,2:camera=back,3:camera=pattern:320x240@15")

        #expect(
            script.steps.map(\.command) == [
                .transfer("sip:carol@example.org:5070"), .camera(.v4l2(.position(.back), nil)),
                .camera(.pattern(.init(size: VideoSize(width: 320, height: 240), frameRate: 15))),
            ])
    }

    @Test func `microphones and speakers are named as the options name them`() throws {
        let script = try Script(parsing: "1:microphone=pulse:USB Headset,2:microphone=tone:500,3:speaker=pulse")

        #expect(
            script.steps.map(\.command) == [
                .microphone(.pulse("USB Headset")), .microphone(.tone(500)), .speaker(.pulse(nil)),
            ])
        #expect(throws: UsageError.self) { try Script(parsing: "1:speaker=file.wav") }
        #expect(throws: UsageError.self) { try Script(parsing: "1:microphone=phone") }
    }

    @Test func `other calls are named by their number`() throws {
        let script = try Script(parsing: "1:transfer-to-call=2,2:join=1")

        #expect(script.steps.map(\.command) == [.transferToCall(2), .join(1)])
    }

    @Test(arguments: [
        "hold", "x:hold", "-1:hold", "1:jump", "1:video=upside", "1:dtmf=", "1:dtmf=12x", "1:hold=2", "", "1:transfer=",
        "1:transfer-to-call=0", "1:join=bob", "99999999999:hold", "1:transfer=junk", "1:transfer=sip:",
    ])
    func `what is no script is refused in one line`(text: String) {
        #expect { try Script(parsing: text) } throws: { error in
            (error as? UsageError).map { $0.description.hasPrefix("--do: ") && !$0.description.contains("\n") } ?? false
        }
    }
}
