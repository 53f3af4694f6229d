import Foundation
import Offhook

/// The whole program, from its arguments to its exit status.
package enum Program {
    @MainActor package static func run(arguments: [String]) async -> ExitStatus {
        // The trace of a crash is for crashes: who sends this wants the program to end.
        signal(SIGQUIT, SIG_DFL)
        let status = await perform(arguments)
        let trouble = await OutputQueue.standardOutput.finish { Interruption.shared.firstAt }
        if let trouble { Terminal.complain(trouble) }
        return trouble != nil && Interruption.shared.hasCome ? .interrupted : status
    }

    @MainActor private static func perform(_ arguments: [String]) async -> ExitStatus {
        do {
            switch try Invocation(parsing: arguments) {
            case .help:
                print(Help.text)
                return .success
            case .call(let address, let options): return try await CallCommand.run(address, options)
            case .answer(let options): return try await AnswerCommand.run(options)
            case .devices(let asJSON): return await DevicesCommand.run(asJSON: asJSON)
            case .demo(let options): return try await DemoCommand.run(options)
            case .phone(let options): return try await PhoneCommand.run(options)
            case .report(let path): return try ReportCommand.run(path)
            }
        } catch let error as UsageError {
            Terminal.complain("offhook: \(error)")
            return .usage
        } catch let error as FileFailure {
            Terminal.complain("offhook: \(error)")
            return .deviceFailed
        } catch let error as CallError {
            Terminal.complain("offhook: \(error)")
            return status(of: error)
        } catch {
            Terminal.complain("offhook: \(error)")
            return .callFailed
        }
    }

    /// What an error before any call amounts to.
    private static func status(of error: CallError) -> ExitStatus {
        switch error.code {
        case .invalidArgument: .usage
        case .authenticationFailed, .registrationFailed: .notRegistered
        case .deviceUnavailable: .deviceFailed
        default: .callFailed
        }
    }
}
