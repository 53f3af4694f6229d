internal import CSpeexDSP

/// Changes how many samples a second sound has. It belongs to one thread.
package final class Resampler {
    package let inputRate: Int
    package let outputRate: Int
    package let channelCount: Int
    /// Nil where nothing is to be done.
    private let state: OpaquePointer?

    /// Makes a resampler for interleaved channels; rates from 8,000 to 192,000.
    package init(from inputRate: Int, to outputRate: Int, channelCount: Int = 1) throws(AudioCodecError) {
        guard (8000...192_000).contains(inputRate), (8000...192_000).contains(outputRate),
            (1...8).contains(channelCount)
        else { throw .unsupportedFormat }
        self.inputRate = inputRate
        self.outputRate = outputRate
        self.channelCount = channelCount
        guard inputRate != outputRate else {
            state = nil
            return
        }
        var status: Int32 = 0
        let quality: Int32 = 4
        let created = speex_resampler_init(
            UInt32(channelCount), UInt32(inputRate), UInt32(outputRate), quality, &status)
        // RESAMPLER_ERR_SUCCESS is an anonymous enumeration's 0.
        guard status == 0, let created else { throw .unavailable }
        state = created
    }

    deinit {
        if let state { speex_resampler_destroy(state) }
    }

    /// Resamples the next samples of a signal, channels interleaved.
    package func resample(_ samples: [Int16]) -> [Int16] {
        guard let state else { return samples }
        let frames = samples.count / channelCount
        let room = (frames * outputRate + inputRate - 1) / inputRate + 16
        return [Int16](unsafeUninitializedCapacity: room * channelCount) { output, count in
            var consumed = 0
            var produced = 0
            samples.withUnsafeBufferPointer { input in
                guard let source = input.baseAddress, let target = output.baseAddress else { return }
                while consumed < frames, produced < room {
                    var inputLength = UInt32(frames - consumed)
                    var outputLength = UInt32(room - produced)
                    speex_resampler_process_interleaved_int(
                        state, source + consumed * channelCount, &inputLength,
                        target + produced * channelCount, &outputLength)
                    guard inputLength > 0 || outputLength > 0 else { break }
                    consumed += Int(inputLength)
                    produced += Int(outputLength)
                }
            }
            count = produced * channelCount
        }
    }
}
