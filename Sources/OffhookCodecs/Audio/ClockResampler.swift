internal import CSpeexDSP

/// Makes mono sound a very little shorter or longer, so that it fits a clock that is a little faster or slower. It belongs
/// to one thread at a time.
package final class ClockResampler {
    /// A step of speed is one part of so many. The square of this must fit in 32 bits: where it does not, libspeexdsp takes
    /// a new speed by half, and then reads beyond its tables.
    private static let resolution: UInt32 = 60_000

    private let sampleRate: UInt32
    private let state: OpaquePointer

    package init(sampleRate: Int) throws(AudioCodecError) {
        guard (8000...192_000).contains(sampleRate) else { throw .unsupportedFormat }
        var status: Int32 = 0
        guard let state = speex_resampler_init(1, UInt32(sampleRate), UInt32(sampleRate), 4, &status), status == 0
        else { throw .unavailable }
        self.sampleRate = UInt32(sampleRate)
        self.state = state
    }

    deinit {
        speex_resampler_destroy(state)
    }

    /// Sets how many samples go in for each that comes out, from 0.99 to 1.01.
    package func setSpeed(_ speed: Double) {
        let numerator = UInt32((min(max(speed, 0.99), 1.01) * Double(Self.resolution)).rounded())
        _ = speex_resampler_set_rate_frac(state, numerator, Self.resolution, sampleRate, sampleRate)
    }

    /// Resamples the next samples.
    package func resample(_ samples: [Int16]) -> [Int16] {
        let room = samples.count + samples.count / 50 + 16
        return [Int16](unsafeUninitializedCapacity: room) { output, count in
            samples.withUnsafeBufferPointer { input in
                guard let source = input.baseAddress, let target = output.baseAddress else { return }
                var inputLength = UInt32(samples.count)
                var outputLength = UInt32(room)
                speex_resampler_process_int(state, 0, source, &inputLength, target, &outputLength)
                count = Int(outputLength)
            }
        }
    }
}
