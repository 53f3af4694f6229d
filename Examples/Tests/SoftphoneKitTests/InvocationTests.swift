import Offhook
import Testing

@testable import SoftphoneKit

@Suite struct `A command line` {
    private func options(_ line: String) throws -> Options {
        guard
            case .phone(let options) = try Invocation(
                parsing: ["phone"] + line.split(separator: " ").map(String.init))
        else { throw UsageError("the command line is one of phone") }
        return options
    }

    private func answerOptions(_ line: String) throws -> Options {
        guard
            case .answer(let options) = try Invocation(
                parsing: ["answer"] + line.split(separator: " ").map(String.init))
        else { throw UsageError("the command line is one of answer") }
        return options
    }

    @Test func `a call has its address and options in any order`() throws {
        let arguments = ["call", "--video", "sendrecv", "sip:bob@127.0.0.1:5070", "--duration=2.5", "--delayed-offer"]

        guard case .call(let address, let options) = try Invocation(parsing: arguments) else {
            Issue.record("this is a call")
            return
        }

        #expect(address == "sip:bob@127.0.0.1:5070")
        #expect(options.video == .mode(.sendReceive))
        #expect(options.duration == .milliseconds(2500))
        #expect(options.delaysOffer)
    }

    @Test(
        arguments: [
            ("127.0.0.1", "127.0.0.1", nil), ("127.0.0.1:5070", "127.0.0.1", 5070), ("[::1]:5080", "::1", 5080),
            ("::1", "::1", nil),
        ] as [(String, String, UInt16?)])
    func `where to listen`(text: String, address: String, port: UInt16?) throws {
        let options = try options("--bind \(text)")

        #expect(options.bindAddress == IPAddress(parsing: address))
        #expect(options.port == port)
    }

    @Test func `sound processing is left to the library, or switched`() throws {
        #expect(try options("").echoCancellation == .automatic)
        #expect(try options("--echo-cancellation off").echoCancellation == .off)
        #expect(try options("--noise-suppression on").noiseSuppression == .on)
        #expect(try options("--gain-control auto").gainControl == .automatic)
        #expect(throws: UsageError.self) { try options("--gain-control loud") }
        #expect(try options("--speaker pulse:USB").speaker == .pulse("USB"))
    }

    @Test func `whom to listen to`() throws {
        #expect(try options("").allowedPeers == .anyone)
        #expect(try options("--accept-from server").allowedPeers == .serversOnly)
        let addresses = try #require(IPAddress(parsing: "192.0.2.1"))
        #expect(try options("--accept-from 192.0.2.1").allowedPeers == .addresses([addresses]))
        #expect(throws: UsageError.self) { try options("--accept-from 192.0.2.1,elsewhere") }
    }

    @Test func `pictures in the terminal and events exclude each other`() throws {
        #expect(try options("--display terminal").display == .terminal)
        #expect(throws: UsageError.self) { try answerOptions("--display terminal --events json") }
    }

    @Test(
        arguments: [
            ("screen", .screen(nil)),
            ("screen:1280x720@5", .screen(.init(size: VideoSize(width: 1280, height: 720), frameRate: 5))),
        ] as [(String, CameraChoice)])
    func `the screen is a camera`(_ text: String, _ choice: CameraChoice) throws {
        #expect(try options("--camera \(text)").camera == choice)
    }

    @Test func `every option of the contract is there`() {
        let names = Set(OptionTable.all.map(\.name))
        let contract = """
            --account --auth-user --password-file --password-env --server --transport --outbound-proxy --register --expires
            --bind --media-ports --tls-ca --tls-insecure --video --audio-codecs --video-codecs --camera --microphone
            --display --speaker --srtp --ice --stun --turn --bitrate --max-bitrate --delayed-offer --duration --calls --do
            --on-add-video --on-transfer --events --stats --trace --tls-cert --tls-key --accept-from
            """

        for name in contract.split(whereSeparator: \.isWhitespace) {
            #expect(names.contains(String(name)), "\(name)")
        }
        #expect(names.count == OptionTable.all.count)
    }

    @Test func `the help has every command of --do, in lines that fit a terminal`() throws {
        let lines = Help.text.split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("Commands of --do") })

        for command in (Script.commands + ", " + Script.commandsForRinging).split(separator: ", ") {
            #expect(lines[start...].contains { $0.contains(command) }, "\(command)")
        }
        #expect(lines[start...].allSatisfy { $0.count <= 100 })
    }

    @Test func `values of every kind are read`() throws {
        let options = try answerOptions(
            "--server sip.example.org --media-ports 10000-10099 --transport wss --srtp sdes --ice lite --audio-codecs pcma,OPUS"
                + " --bitrate 500 --camera v4l2:/dev/video2:640x480@15 --microphone tone:660 --display a.ivf --speaker b.wav"
                + " --on-add-video accept=recvonly --on-transfer refuse --events json --calls 3 --expires 60 --video auto --stun a:1 --stun b:2"
        )

        #expect(options.mediaPorts == 10000...10099)
        #expect(options.transport == .secureWebSocket)
        #expect(options.security == .sdes)
        #expect(options.ice == .lite)
        #expect(options.audioCodecs == [.pcma, .opus])
        #expect(options.bitrate == 500_000)
        #expect(
            options.camera
                == .v4l2(.named("/dev/video2"), .init(size: VideoSize(width: 640, height: 480), frameRate: 15)))
        #expect(options.microphone == .tone(660))
        #expect(options.display == .codedFile("a.ivf"))
        #expect(options.speaker == .file("b.wav"))
        #expect(options.addVideo == .accept(.receiveOnly))
        #expect(options.transferPolicy == .refuse)
        #expect(options.writesEvents)
        #expect(options.calls == 3)
        #expect(options.expires == .seconds(60))
        #expect(options.video == .automatic)
        #expect(options.stunServers == ["a:1", "b:2"])
    }

    @Test(arguments: [
        ("", "Type: offhook"), ("cal sip:a@b", "there is no command “cal”"),
        ("call", "Type: offhook call sip:user@host"),
        ("call a b", "“b” is a second one"), ("call a --video auto", "--video off|sendrecv"),
        ("answer --vido off", "did you mean --video?"), ("answer --video sideways", "type --video off|sendrecv"),
        ("answer --bind 1.2.3.4.5", "type --bind ADDR[:PORT]"), ("answer --duration", "type --duration SECONDS"),
        ("answer --media-ports 20-10", "type --media-ports LO-HI"), ("answer --register=yes", "takes no value"),
        ("answer --events xml", "type --events json"), ("answer --auth-user alice", "--password-file FILE"),
        ("answer --display screen", "FILE.ivf"), ("answer bob", "“bob” is none"),
        ("answer --register", "--server HOST"),
        ("answer --audio-codecs g729", "type --audio-codecs"), ("report", "offhook report FILE"),
        ("demo --fast", "offhook demo"),
        ("answer --bitrate 9223372036854775807", "from 30 to 50000"), ("answer --bitrate 10", "from 30 to 50000"),
        ("answer --max-bitrate 99999999999999999999", "from 30 to 50000"),
        ("answer --bitrate 5000 --max-bitrate 100", "from 30 to 100"), ("answer --expires 0", "from 1 to 86400"),
        ("answer --calls 0", "from 1 to 100000"), ("answer --duration nan", "from 0 to 86400"),
        ("answer --audio-codecs ,,", "opus,pcmu,pcma"), ("answer --video-codecs h264", "vp8"),
        ("answer --stun a:b", "from 1 to 65535"), ("answer --stun 127.0.0.1:99999", "from 1 to 65535"),
        ("answer --transport tls", "--tls-cert FILE"), ("answer --transport ws", "--server HOST"),
        ("answer --stats a --trace ./a", "--stats and --trace name one file"),
        ("answer --display a.ivf --record b.webm --camera a.ivf", "--display and --camera name one file"),
        ("call http://example.org", "sip:name@host"), ("call foo:bar", "sip:name@host"),
        ("call mailto:a@b", "sip:name@host"), ("call tel:123", "--server HOST"),
        ("call sip:a@b --transport wss", "--server HOST"), ("call sips:a@b --transport tcp", "--transport tls"),
        ("call sip:a@b;transport=udp --transport tls", "name the transport once"),
        ("answer --transport tls --outbound-proxy sip:p;transport=tcp", "name the transport once"),
    ])
    func `what is wrong is told in one line that says what to type`(line: String, words: String) {
        let arguments = line.split(separator: " ").map(String.init)

        #expect { try Invocation(parsing: arguments) } throws: { error in
            guard let error = error as? UsageError else { return false }
            return error.description.contains(words) && !error.description.contains("\n")
        }
    }

    @Test(
        arguments: [
            ("sip:a@192.0.2.1", "", "sip:a@192.0.2.1"),
            ("sip:a@192.0.2.1", "--transport tls", "sip:a@192.0.2.1;transport=tls"),
            ("192.0.2.1:5070", "--transport tcp", "sip:192.0.2.1:5070;transport=tcp"),
            ("[2001:db8::1]:5070", "", "[2001:db8::1]:5070"),
            ("bob", "--transport tls --account sip:a@example.org", "sip:bob@example.org;transport=tls"),
            ("example.org:5070", "", "sip:example.org:5070"),
            ("sip:a@b;transport=TLS", "--transport tls", "sip:a@b;transport=TLS"),
            ("sip:a@b?Subject=x", "--transport tcp", "sip:a@b;transport=tcp?Subject=x"),
            ("sips:a@b", "--transport tls", "sips:a@b"), ("tel:123", "--server h --transport ws", "tel:123"),
            ("sip:a@b", "--server h --transport tls", "sip:a@b"),
        ])
    func `the transport that is asked for is a part of an address that no server resolves`(
        text: String, line: String, address: String
    ) throws {
        #expect(try CallTarget.address(text, options: options(line)) == address)
    }

    @Test func `the transport counts with a proxy, too`() throws {
        let options = try options("--outbound-proxy sip:proxy.example.org --transport tls")

        let proxy = UserConfiguration(options, password: nil).outboundProxy
        #expect(proxy == "sip:proxy.example.org;transport=tls")
    }

    @Test func `a missing file of certificates is told in a sentence`() throws {
        let options = try options("--tls-ca /nonexistent/ca.pem")

        #expect(throws: FileFailure.self) { try TrustFiles.check(options) }
    }

    @Test func `devices such as null may be named twice`() throws {
        #expect(try options("--stats /dev/null --trace /dev/null").traceFile == "/dev/null")
    }

    @Test func `help lists every option`() {
        for option in OptionTable.all { #expect(Help.text.contains(option.name)) }
    }
}
