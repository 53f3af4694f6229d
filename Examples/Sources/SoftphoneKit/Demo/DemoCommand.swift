import Foundation
import Offhook

/// `offhook demo`: two endpoints of this process call each other over the machine's own loop, and everything that
/// arrives is checked.
@MainActor final class DemoCommand {
    static func run(_ options: DemoOptions) async throws -> ExitStatus {
        let interruption = Interruption.shared
        let demo = try DemoCommand(options)
        interruption.onInterrupt { demo.isInterrupted = true }
        let status = try await demo.run()
        return demo.isInterrupted ? .interrupted : status
    }

    /// How much longer than asked a call may go on where the machine is too busy for its pictures.
    private static let patience = Duration.seconds(20)

    private let options: DemoOptions
    private let terminal = Terminal()
    private let alice: DemoEndpoint
    private let bob: DemoEndpoint
    private var isInterrupted = false

    private init(_ options: DemoOptions) throws {
        self.options = options
        do {
            try FileManager.default.createDirectory(atPath: options.folder, withIntermediateDirectories: true)
        } catch {
            throw FileFailure("the folder \(options.folder) cannot be made: \(error.localizedDescription)")
        }
        alice = try DemoEndpoint(name: "alice", tone: 440)
        bob = try DemoEndpoint(name: "bob", tone: 660)
    }

    private func run() async throws -> ExitStatus {
        try await alice.start()
        try await bob.start()
        guard let address = bob.address else {
            throw CallError(.portUnavailable, "the called side listens nowhere")
        }
        terminal.say("alice calls bob (\(address)) three times on this machine. Everything that arrives is checked.")
        var results: [DemoResult] = []
        for (index, plan) in DemoPlan.all.enumerated() where !isInterrupted {
            terminal.say("")
            terminal.say("Call \(index + 1) of \(DemoPlan.all.count): \(plan.title)")
            results.append(try await call(plan, number: index + 1, address: address))
        }
        await alice.shutdown()
        await bob.shutdown()
        guard !isInterrupted else { return .interrupted }

        terminal.say("")
        terminal.say(DemoResult.table(results))
        terminal.say("")
        terminal.say("What bob saw and heard is in \(options.folder): picture.png, video-N.ivf and sound-N.wav.")
        let faults = results.enumerated().flatMap { index, result in result.faults.map { "call \(index + 1): \($0)" } }
        guard faults.isEmpty else {
            for fault in faults { terminal.say("✗ \(fault)") }
            return .callFailed
        }
        terminal.say("✓ All three calls did what they should: picture numbers and tones arrived, encrypted.")
        return .success
    }

    // MARK: One call

    private func call(_ plan: DemoPlan, number: Int, address: String) async throws -> DemoResult {
        let path = options.folder + "/"
        let hasVideo = plan.calleeDirection != nil
        let picture: FileRenderer?
        let film: IVFWriter?
        let sound: WAVRecorder
        do {
            picture = number == 1 ? try FileRenderer(path: path + "picture.png") : nil
            film = hasVideo ? try IVFWriter(path: path + "video-\(number).ivf") : nil
            sound = try WAVRecorder(path: path + "sound-\(number).wav")
        } catch {
            throw FileFailure("\(error)")
        }
        alice.prepare(answerMode: nil, snapshot: nil, film: nil, recorder: nil)
        bob.prepare(
            answerMode: plan.calleeMode, snapshot: picture, film: film.map { IVFSink($0) }, recorder: sound)

        var errors: [String] = []
        let placed = Instant.now
        do { try await alice.place(plan, to: address) } catch { errors.append("\(error)") }
        await wait(upTo: .seconds(10)) { alice.isEstablished && bob.isEstablished || !errors.isEmpty }
        let setup = alice.isEstablished ? .now - placed : nil
        let status = bob.call?.incomingVideoStatus
        if let status { terminal.say("  incoming status at bob: \(status)") }
        let answered = Instant.now
        if bob.isEstablished { await talk(hasVideo: hasVideo) }

        var result = DemoResult(
            plan: plan, status: status, caller: await side(of: alice), callee: await side(of: bob),
            setup: await alice.call?.statistics().setupDuration ?? setup, errors: errors + endErrors(),
            tones: (alice.tone, bob.tone), duration: .now - answered)
        alice.call?.end()
        await wait(upTo: .seconds(3)) { alice.isOver && (bob.isOver || bob.call == nil) }
        picture?.close()
        film?.close()
        sound.close()
        if let picture, picture.frameCount == 0 {
            result.errors.append(
                "bob saw fewer than \(PictureChecker.snapshotPicture) pictures, so that no picture was saved")
        }
        let trouble = picture?.error ?? film?.error ?? sound.error
        if let trouble { throw FileFailure(trouble.reason) }
        guard alice.isOver, bob.isOver || bob.call == nil else {
            throw CallError(.timedOut, "call \(number) did not end in 3 seconds")
        }
        return result
    }

    /// Lets the call go on for its time, and on a busy machine until enough has arrived, with a live line.
    private func talk(hasVideo: Bool) async {
        await wait(upTo: .seconds(3)) { !hasVideo || alice.videoDirection != nil && bob.videoDirection != nil }
        let words = [alice, bob].map { "\($0.name) \($0.videoDirection.map { "\($0)" } ?? "off")" }
        terminal.say("  video: \(words.joined(separator: ", "))")
        var lastLine = Instant.now
        let end = lastLine + .milliseconds(Int(options.seconds * 1000))
        await wait(upTo: end - .now + Self.patience) {
            isInterrupted || Instant.now >= end && alice.hasProof(ofTone: bob.tone) && bob.hasProof(ofTone: alice.tone)
        } whileWaiting: {
            alice.listen()
            bob.listen()
            guard Instant.now - lastLine >= .seconds(1), let call = bob.call else { return }
            lastLine = .now
            terminal.show("  " + Words.line(for: await call.statistics(), of: call))
        }
        terminal.endLine()
    }

    private func side(of endpoint: DemoEndpoint) async -> DemoResult.Side {
        DemoResult.Side(
            name: endpoint.name, statistics: await endpoint.call?.statistics() ?? CallStatistics(),
            pictures: endpoint.pictures.findings, direction: endpoint.videoDirection, tone: endpoint.heard)
    }

    private func endErrors() -> [String] {
        [alice, bob].flatMap { endpoint -> [String] in
            if let error = endpoint.error { return ["\(endpoint.name): \(error)"] }
            return endpoint.isEstablished ? [] : ["\(endpoint.name)'s call did not come up"]
        }
    }

    /// Looks every 50 ms whether something has come about.
    private func wait(
        upTo limit: Duration, until condition: () -> Bool, whileWaiting: () async -> Void = {}
    ) async {
        let deadline = Instant.now + limit
        while !condition(), Instant.now < deadline {
            try? await Task.sleep(for: .milliseconds(50))
            await whileWaiting()
        }
    }
}
