import Foundation

/// A page of HTML, whole in itself, of one or more calls.
struct ReportPage: Sendable {
    let title: String
    let samples: [StatisticsSample]

    var html: String {
        let calls = Dictionary(grouping: samples, by: \.call)
        let order = samples.map(\.call).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let sections = order.map { Self.section($0, calls[$0] ?? []) }
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>\(Self.escaped(title))</title>
            <style>
            body { font: 15px system-ui, sans-serif; margin: 2em auto; max-width: 960px; padding: 0 1em; color: #222 }
            h2 { font-size: 1em; margin: 1.6em 0 0 } p { margin: .2em 0 }
            svg { width: 100% } svg text { font-size: 11px; fill: #666 }
            svg .grid { stroke: #ddd } svg polyline { fill: none; stroke-width: 1.6 }
            svg .mark { stroke: #888; stroke-dasharray: 2 3 } svg .frozen { fill: #d00; opacity: .18 }
            .events td:first-child { font-variant-numeric: tabular-nums; color: #666 }
            span { margin-right: 1.2em } span i { display: inline-block; width: 1em; height: .25em; margin-right: .4em; vertical-align: middle }
            table { border-collapse: collapse } td, th { padding: .2em .9em .2em 0; text-align: left }
            td { white-space: nowrap }
            </style></head><body>
            <h1>\(Self.escaped(title))</h1>
            \(sections.joined(separator: "\n"))
            </body></html>

            """
    }

    private static func section(_ call: String, _ samples: [StatisticsSample]) -> String {
        let timeline = Timeline(samples)
        let plots = plots(of: samples, timeline).compactMap(\.html)
        return "<h2>\(escaped(heading(call, samples)))</h2>\n\(table(samples))\n\(plots.joined(separator: "\n"))"
            + "\n\(events(timeline))"
    }

    private static func heading(_ call: String, _ samples: [StatisticsSample]) -> String {
        guard let first = samples.first, let last = samples.last else { return call }
        var parts = [call, "\(Plot.clock(last.time - first.time)) minutes"]
        if let remote = last.audio.received.remote ?? last.video.received.remote {
            parts.append("with \(remote)" + (last.audio.sent.relayed ? " by a relay" : ""))
        }
        return parts.joined(separator: ", ")
    }

    private static func events(_ timeline: Timeline) -> String {
        guard !timeline.events.isEmpty else { return "" }
        let rows = timeline.events.map { "<tr><td>\(Plot.clock($0.time))</td><td>\(escaped($0.text))</td></tr>" }
        return "<section><h2>Events</h2><table class=\"events\">\(rows.joined())</table></section>"
    }

    private static func table(_ samples: [StatisticsSample]) -> String {
        guard let last = samples.last else { return "" }
        let streams = [
            ("sound sent", last.audio.sent), ("sound received", last.audio.received), ("video sent", last.video.sent),
            ("video received", last.video.received),
        ]
        let rows = streams.filter { $0.1.codec != nil && $0.1.packets > 0 }.map { name, stream in
            let size = stream.width.flatMap { width in stream.height.map { "\(Int(width))x\(Int($0))" } } ?? ""
            let cells = [
                name, stream.codec ?? "", stream.encrypted ?? "not encrypted", size, "\(Int(stream.packets))",
                "\(Int(stream.lost))", "\(Int(stream.repaired))",
                stream.samples > 0 ? String(format: "%.1f %%", stream.concealedSamples / stream.samples * 100) : "",
                stream.width == nil ? "" : String(format: "%d, %.1f s", Int(stream.freezes), stream.frozenSeconds),
                stream.width == nil ? "" : "\(Int(stream.keyFrames))", stream.quality,
            ]
            return "<tr>" + cells.map { "<td>\(escaped($0))</td>" }.joined() + "</tr>"
        }
        let heads = [
            "stream", "codec", "encryption", "size", "packets", "lost", "repaired", "made up", "freezes", "key frames",
            "in the end",
        ]
        return "<table><tr>" + heads.map { "<th>\($0)</th>" }.joined() + "</tr>\(rows.joined())</table>"
    }

    private static func plots(of samples: [StatisticsSample], _ timeline: Timeline) -> [Plot] {
        let times = samples.map(\.time)
        func line(
            _ name: String, _ color: String, _ value: (StatisticsSample) -> Double?
        ) -> Plot.Line { Plot.Line(name: name, color: color, values: samples.map(value)) }
        // What never flows has no line.
        let last = samples.last
        func active(_ stream: StatisticsSample.Stream, _ value: Double) -> Double? { stream.codec == nil ? nil : value }
        let sendsVideo = (last?.video.sent.packets ?? 0) > 0
        let plots = [
            Plot(
                title: "Video bitrate", unit: "kbit/s", times: times,
                lines: [
                    line("sent", "#06c") { sendsVideo ? active($0.video.sent, $0.video.sent.bitrate / 1000) : nil },
                    line("aimed at", "#9bd") {
                        sendsVideo ? active($0.video.sent, $0.video.sent.targetBitrate / 1000) : nil
                    },
                    line("received", "#c50") { active($0.video.received, $0.video.received.bitrate / 1000) },
                ]),
            Plot(
                title: "Pictures", unit: "a second", times: times,
                lines: [
                    line("sent", "#06c") { sendsVideo ? active($0.video.sent, $0.video.sent.frameRate) : nil },
                    line("received", "#c50") { active($0.video.received, $0.video.received.frameRate) },
                ], shades: timeline.freezes),
            Plot(
                title: "Size", unit: "lines of a picture", times: times,
                lines: [
                    line("sent", "#06c") { sendsVideo ? $0.video.sent.height : nil },
                    line("received", "#c50") { $0.video.received.height },
                ]),
            Plot(
                title: "Sound bitrate", unit: "kbit/s", times: times,
                lines: [
                    line("sent", "#06c") { active($0.audio.sent, $0.audio.sent.bitrate / 1000) },
                    line("received", "#c50") { active($0.audio.received, $0.audio.received.bitrate / 1000) },
                ]),
            Plot(
                title: "Loss", unit: "%", times: times,
                lines: [
                    line("sound sent", "#06c") { active($0.audio.sent, $0.audio.sent.lossFraction * 100) },
                    line("sound received", "#c50") { active($0.audio.received, $0.audio.received.lossFraction * 100) },
                    line("video sent", "#083") {
                        sendsVideo ? active($0.video.sent, $0.video.sent.lossFraction * 100) : nil
                    },
                    line("video received", "#808") { active($0.video.received, $0.video.received.lossFraction * 100) },
                    line("sound made up", "#aaa") { timeline.concealed[$0.time] },
                ]),
            Plot(
                title: "Delay", unit: "ms", times: times,
                lines: [
                    line("round trip", "#06c") {
                        ($0.audio.sent.roundTrip ?? $0.video.sent.roundTrip).map { $0 * 1000 }
                    },
                    line("sound jitter", "#c50") { active($0.audio.received, $0.audio.received.jitter * 1000) },
                    line("sound buffer", "#083") {
                        active($0.audio.received, $0.audio.received.jitterBufferDelay * 1000)
                    },
                    line("video jitter", "#808") { active($0.video.received, $0.video.received.jitter * 1000) },
                ]),
        ]
        return plots.map { plot in
            var plot = plot
            plot.marks = timeline.events.map(\.time)
            return plot
        }
    }

    static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }
}
