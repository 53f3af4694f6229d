/// What `offhook --help` prints.
enum Help {
    /// Words with commas between, in lines of a terminal's width.
    private static func indented(_ words: String) -> String {
        words.split(separator: " ").reduce(into: [" "]) { lines, word in
            if lines[lines.count - 1].count + word.count > 98 { lines.append(" ") }
            lines[lines.count - 1] += " \(word)"
        }.joined(separator: "\n")
    }

    static var text: String {
        let heads = OptionTable.all.map { $0.usage.isEmpty ? $0.name : "\($0.name) \($0.usage)" }
        let options = zip(heads, OptionTable.all).map { head, option in
            head.count > 34
                ? "  \(head)\n\(String(repeating: " ", count: 38))\(option.help)"
                : "  \(head)\(String(repeating: " ", count: 36 - head.count))\(option.help)"
        }
        return """
            offhook demo                      two endpoints on this machine make video calls and show what happened
            offhook call ADDRESS [options]    place a call
            offhook answer [options]          wait for calls and take them
            offhook phone [options]           a softphone for the terminal
            offhook devices                   cameras with their formats, microphones, speakers
            offhook report FILE               turn a saved statistics file into one HTML page

            \(options.joined(separator: "\n"))

            Commands of --do, while the call is up:
            \(indented(Script.commands))
            and while it rings here, from its arrival on:
            \(indented(Script.commandsForRinging))
            WHICH is what --camera, --microphone and --speaker take, but for files to write; MODE is
            \(VideoWords.list); NUMBER counts the calls from 1.

            Exit status: 0 done as asked, 2 bad usage, 3 not registered, 4 the call failed or was refused,
            5 a device or file could not be used, 130 interrupted.
            """
    }
}
