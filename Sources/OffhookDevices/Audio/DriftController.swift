/// Finds by how much two clocks differ, from how far they have come apart, so that the faster one can be held back.
///
/// A proportional and integral controller, critically damped, with a time constant of 40 seconds: what jitter moves
/// within a second is not followed, and no change of speed can be heard.
struct DriftController: Sendable {
    /// No two crystals are further apart, and this is a thirtieth of a semitone.
    private static let limit = 0.002
    private static let proportional = 0.05
    private static let integral = proportional * proportional / 4

    /// So many seconds more are no drift, but a machine that was held up: such a moment must not be remembered as one.
    private static let outlier = 0.01

    /// What a second's distances are made one by.
    enum Estimate {
        /// Where what disturbs them does so both ways.
        case mean
        /// Where it can only make them less.
        case greatest
    }

    private let estimate: Estimate
    /// Up to so many seconds, what is found is taken for noise: each correction moves an echo from where it was.
    private let deadZone: Double
    private var memory = 0.0
    /// The distance that is kept: what the first second showed, as far as that may be.
    private var setpoint: Double?
    private var sum = 0.0
    private var greatest = -Double.infinity
    private var count = 0
    private var elapsed = 0.0
    /// What is corrected now: 0.0001 holds the faster clock back by 100 parts in a million.
    private(set) var correction = 0.0

    init(estimate: Estimate = .mean, deadZone: Double = 0) {
        (self.estimate, self.deadZone) = (estimate, deadZone)
    }

    /// Takes how far apart the clocks are, in seconds, once in so many seconds; returns whether the correction changed.
    ///
    /// - Parameter tolerance: from which distances the first second's is kept rather than brought to zero.
    mutating func take(
        error: Double, after seconds: Double, tolerance: ClosedRange<Double> = -0.05...0.05
    ) -> Bool {
        sum += error
        greatest = max(greatest, error)
        count += 1
        elapsed += seconds
        guard elapsed >= 1 else { return false }
        let distance =
            switch estimate {
            case .mean: sum / Double(count)
            case .greatest: greatest
            }
        let kept = setpoint ?? min(max(distance, tolerance.lowerBound), tolerance.upperBound)
        setpoint = kept
        let away = distance - kept
        let excess = min(max(away - min(max(away, -deadZone), deadZone), -Self.outlier), Self.outlier)
        memory = Self.clamped(memory + Self.integral * excess * elapsed)
        correction = Self.clamped(memory + Self.proportional * excess)
        (sum, greatest, count, elapsed) = (0, -.infinity, 0, 0)
        return true
    }

    /// Sound was lost or put in by other means: the distance begins anew, while the drift is what it was.
    mutating func restart() {
        (sum, greatest, count, elapsed, setpoint) = (0, -.infinity, 0, 0, nil)
    }

    /// The drift found so far, without what is corrected for the moment: in parts in a million.
    var driftPPM: Double { memory * 1e6 }

    private static func clamped(_ value: Double) -> Double { min(max(value, -limit), limit) }
}
