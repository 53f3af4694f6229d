/// What `offhook demo` may be told.
struct DemoOptions: Hashable, Sendable {
    /// Where to put the picture, the film and the sound.
    var folder = "offhook-demo"
    /// How long each call lasts.
    var seconds = 5.0

    init(parsing arguments: [String] = []) throws(UsageError) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            let value = rest.popFirst()
            switch (name, value, value.flatMap(Double.init)) {
            case ("--output", let folder?, _) where !folder.isEmpty: self.folder = folder
            case ("--duration", _, let seconds?) where (2...60).contains(seconds): self.seconds = seconds
            default:
                throw UsageError(
                    "demo takes --output FOLDER and --duration SECONDS (2 to 60) only; type: offhook demo")
            }
        }
    }
}
