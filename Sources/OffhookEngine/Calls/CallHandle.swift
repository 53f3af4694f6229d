/// Names a call of the engine; whoever makes the call known picks the number.
package struct CallHandle: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// Names an account of the engine.
package struct AccountHandle: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// Names one video line for as long as its call lasts.
package struct ChannelHandle: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// Names one command that waits for its outcome.
package struct CommandToken: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// Names one question for a password.
package struct CredentialQuestion: Hashable, Sendable {
    package var number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}
