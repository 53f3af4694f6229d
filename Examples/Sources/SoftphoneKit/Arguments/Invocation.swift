/// What a whole command line asks for.
enum Invocation: Sendable {
    case help
    case demo(DemoOptions)
    case call(String, Options)
    case answer(Options)
    case phone(Options)
    case devices(asJSON: Bool)
    case report(String)

    /// Reads a command line without the program's name.
    init(parsing arguments: [String]) throws(UsageError) {
        guard let command = arguments.first else {
            throw UsageError("what should be done? Type: \(Self.commands)")
        }
        let rest = Array(arguments.dropFirst())
        if rest.contains("--help") || ["help", "--help", "-h"].contains(command) {
            self = .help
            return
        }
        switch command {
        case "demo": self = .demo(try DemoOptions(parsing: rest))
        case "call":
            let (words, options) = try Self.options(rest)
            guard words.count == 1 else {
                throw UsageError(
                    words.isEmpty
                        ? "call whom? Type: offhook call sip:user@host"
                        : "call takes one address, and “\(words[1])” is a second one")
            }
            if options.video == .automatic {
                throw UsageError("--video auto is for offhook answer; type --video \(VideoWords.list)")
            }
            _ = try CallTarget.address(words[0], options: options)
            self = .call(words[0], options)
        case "answer":
            let options = try Self.optionsAlone(rest, of: "answer")
            try OptionRules.checkListening(options)
            self = .answer(options)
        case "phone":
            let options = try Self.optionsAlone(rest, of: "phone")
            guard !options.writesEvents else {
                throw UsageError("phone is for people; type offhook call or offhook answer with --events json")
            }
            self = .phone(options)
        case "devices":
            guard rest.isEmpty || rest == ["--events", "json"] else {
                throw UsageError("devices takes nothing but --events json; type: offhook devices")
            }
            self = .devices(asJSON: !rest.isEmpty)
        case "report":
            guard rest.count == 1 else {
                throw UsageError("report takes the file that --stats wrote; type: offhook report FILE")
            }
            self = .report(rest[0])
        default:
            throw UsageError("there is no command “\(command)”; type: \(Self.commands)")
        }
    }

    private static let commands =
        "offhook demo, offhook call ADDRESS, offhook answer, offhook phone, offhook devices, offhook report FILE"
        + " or offhook --help"

    private static func optionsAlone(_ arguments: [String], of command: String) throws(UsageError) -> Options {
        let (words, options) = try options(arguments)
        if let word = words.first {
            throw UsageError("\(command) takes options only, and “\(word)” is none; see offhook --help")
        }
        return options
    }

    /// Splits words from options.
    private static func options(_ arguments: [String]) throws(UsageError) -> ([String], Options) {
        var words: [String] = []
        var options = Options()
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            index += 1
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let description = OptionTable.all.first(where: { $0.name == parts[0] }) else {
                throw UsageError("there is no option \(parts[0])\(suggestion(for: parts[0])); see offhook --help")
            }
            switch description.action {
            case .flag(let set):
                guard parts.count == 1 else { throw UsageError("\(parts[0]) takes no value; type \(parts[0])") }
                set(&options)
            case .value(let read):
                var value = parts.count == 2 ? parts[1] : nil
                if value == nil, index < arguments.count {
                    value = arguments[index]
                    index += 1
                }
                guard let value, try read(&options, value) else {
                    let found = value.map { ", not “\($0)”" } ?? ""
                    throw UsageError("type \(description.name) \(description.usage)\(found)")
                }
            }
        }
        if options.authenticationName != nil, options.passwordFile == nil, options.passwordVariable == nil {
            throw UsageError("--auth-user needs a password; type --password-file FILE or --password-env VAR")
        }
        if options.display == .terminal, options.writesEvents {
            throw UsageError("--events json needs standard output for itself; type --display FILE.png, or window")
        }
        if options.registers, options.server == nil, options.account == nil {
            throw UsageError("register where? Type --server HOST, and --account sip:user@domain")
        }
        try OptionRules.check(options)
        return (words, options)
    }

    /// The option that was perhaps meant.
    private static func suggestion(for name: String) -> String {
        let near = OptionTable.all.map(\.name).filter { option in
            option.hasPrefix(name) || name.hasPrefix(option) || isOneChange(name, option)
        }
        return near.first.map { "; did you mean \($0)?" } ?? ""
    }

    /// Whether one character more, less or other makes one word of the other.
    private static func isOneChange(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left), Array(right))
        guard abs(left.count - right.count) <= 1 else { return false }
        let start = zip(left, right).prefix { $0 == $1 }.count
        let end = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
        return start + end >= max(left.count, right.count) - 1
    }
}
