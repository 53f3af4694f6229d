/// One rule that somebody's type is held to.
///
/// ```swift
/// @Test(arguments: VideoSinkConformance.checks(for: MySink.self))
/// func conforms(_ check: ConformanceCheck<MySink>) async throws { try await check(MySink()) }
/// ```
///
/// Each check is reported as a line of its own. With XCTest, run them in a loop.
public struct ConformanceCheck<Subject>: Sendable, CustomStringConvertible {
    /// The rule's short name, as in `odd sizes`.
    public let name: String
    /// The rule as a sentence, as in `Takes pictures whose width and height are odd.`
    public let rule: String

    private let body: @Sendable (_ make: () throws -> Subject) async throws -> Void

    init(
        _ name: String, _ rule: String, body: @escaping @Sendable (_ make: () throws -> Subject) async throws -> Void
    ) {
        self.name = name
        self.rule = rule
        self.body = body
    }

    /// Tries the rule on a new object.
    ///
    /// - Parameter make: makes the object, which nobody else may use or hold.
    /// - Throws: a ``ConformanceFailure`` where the rule is broken, or what making the object throws.
    public func callAsFunction(_ make: @autoclosure () throws -> Subject) async throws {
        do {
            try await body(make)
        } catch let broken as BrokenRule {
            throw ConformanceFailure(name: name, rule: rule, observation: broken.observation)
        }
    }

    /// Name and rule, as one line.
    public var description: String { "\(name): \(rule)" }
}

/// A rule was broken.
public struct ConformanceFailure: Error, Hashable, CustomStringConvertible {
    /// The rule's short name.
    public let name: String
    /// The rule as a sentence.
    public let rule: String
    /// What was seen in its place.
    public let observation: String

    /// All of it, as one line.
    public var description: String { "\(name): \(rule) But \(observation)." }
}

/// What a check throws inside, before it has its name.
struct BrokenRule: Error {
    var observation: String

    init(_ observation: String) {
        self.observation = observation
    }
}
