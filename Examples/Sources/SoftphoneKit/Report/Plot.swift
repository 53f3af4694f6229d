import Foundation

/// One diagram of a report: lines over the seconds of a call.
struct Plot: Sendable {
    struct Line: Sendable {
        let name: String
        let color: String
        /// A value for each sample; nil leaves a gap.
        let values: [Double?]
    }

    let title: String
    let unit: String
    let times: [Double]
    let lines: [Line]
    /// Moments to mark.
    var marks: [Double] = []
    /// Stretches to shade, such as freezes.
    var shades: [ClosedRange<Double>] = []

    private static let width = 860.0
    private static let height = 220.0
    private static let left = 64.0
    private static let right = 20.0
    private static let bottom = 28.0
    private static let top = 12.0

    /// The diagram as SVG; nil where no line has a value.
    var svg: String? {
        let values = lines.flatMap(\.values).compactMap(\.self)
        guard let largest = values.max(), let first = times.first, let last = times.last else { return nil }
        let ceiling = Self.ceiling(above: largest)
        let span = max(last - first, 1)
        func x(_ time: Double) -> Double { Self.left + (time - first) / span * (Self.width - Self.left - Self.right) }
        func y(_ value: Double) -> Double {
            Self.height - Self.bottom - value / ceiling * (Self.height - Self.bottom - Self.top)
        }
        var parts = [
            "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-label=\"\(title)\">"
        ]
        for shade in shades {
            let from = x(max(shade.lowerBound, first))
            parts.append(
                "<rect class=\"frozen\" x=\"\(Self.round(from))\" y=\"\(Self.top)\""
                    + " width=\"\(Self.round(max(x(shade.upperBound) - from, 2)))\""
                    + " height=\"\(Self.height - Self.bottom - Self.top)\"/>")
        }
        for mark in marks where mark >= first && mark <= last {
            parts.append(
                "<line class=\"mark\" x1=\"\(Self.round(x(mark)))\" x2=\"\(Self.round(x(mark)))\" y1=\"\(Self.top)\""
                    + " y2=\"\(Self.height - Self.bottom)\"/>")
        }
        let divisions = Self.divisions(of: ceiling)
        for step in 0...divisions {
            let value = ceiling * Double(step) / Double(divisions)
            parts.append(
                "<line class=\"grid\" x1=\"\(Self.left)\" x2=\"\(Self.width - Self.right)\" y1=\"\(Self.round(y(value)))\""
                    + " y2=\"\(Self.round(y(value)))\"/><text x=\"\(Self.left - 6)\" y=\"\(Self.round(y(value) + 4))\""
                    + " text-anchor=\"end\">\(Self.label(value))</text>")
        }
        for time in Self.ticks(from: first, to: last) {
            parts.append(
                "<text x=\"\(Self.round(x(time)))\" y=\"\(Self.height - 8)\" text-anchor=\"middle\">\(Self.clock(time))</text>"
            )
        }
        for line in lines {
            parts += Self.runs(of: line.values, at: times).map { run in
                let points = run.map { "\(Self.round(x($0.time))),\(Self.round(y($0.value)))" }.joined(separator: " ")
                return "<polyline points=\"\(points)\" stroke=\"\(line.color)\"/>"
            }
        }
        return parts.joined(separator: "\n") + "</svg>"
    }

    /// The diagram under its title, with the colours explained.
    var html: String? {
        guard let svg else { return nil }
        let legend = lines.filter { $0.values.contains { $0 != nil } }.map {
            "<span><i style=\"background:\($0.color)\"></i>\($0.name)</span>"
        }
        return "<section><h2>\(title), \(unit)</h2><p>\(legend.joined())</p>\(svg)</section>"
    }

    /// The stretches between gaps.
    static func runs(of values: [Double?], at times: [Double]) -> [[(time: Double, value: Double)]] {
        var runs: [[(time: Double, value: Double)]] = [[]]
        for (time, value) in zip(times, values) {
            if let value {
                runs[runs.count - 1].append((time, value))
            } else if runs.last?.isEmpty == false {
                runs.append([])
            }
        }
        return runs.filter { !$0.isEmpty }
    }

    /// Seven moments at most, at round distances.
    static func ticks(from first: Double, to last: Double) -> [Double] {
        let span = max(last - first, 1)
        let step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800].first { span / $0 <= 7 } ?? span / 6
        return Array(stride(from: (first / step).rounded(.up) * step, through: last, by: step))
    }

    /// Seconds as a clock shows them.
    static func clock(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded())
        return "\(whole / 60):" + String(format: "%02d", whole % 60)
    }

    /// Into how many parts a round number is cut so that they are round as well.
    private static func divisions(of ceiling: Double) -> Int {
        let mantissa = ceiling / pow(10, floor(log10(ceiling)))
        return mantissa == 1 || mantissa == 5 ? 5 : 4
    }

    /// The next round number: 1, 2, 4, 5 or 8 times a power of ten.
    static func ceiling(above value: Double) -> Double {
        guard value > 0 else { return 1 }
        let power = pow(10, floor(log10(value)))
        return [1, 2, 4, 5, 8, 10].map { $0 * power }.first { $0 >= value } ?? 10 * power
    }

    private static func round(_ value: Double) -> Double {
        (value * 10).rounded() / 10
    }

    private static func label(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(format: "%.2g", value)
    }
}
