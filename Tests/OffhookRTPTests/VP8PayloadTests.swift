import OffhookBasics
import OffhookRTP
import Testing

@Suite struct `VP8 payload` {
    @Test(arguments: ["vp8/aiortc-payload-descriptor.json", "vp8/pion-vp8-unmarshal.json"])
    func `descriptors read as in other stacks`(file: String) throws {
        for row in try Fixture.cases(file) {
            let bytes = try #require((row["payload"] as? String).flatMap { [UInt8](hexadecimal: $0) })
            if row["error"] is String {
                #expect(throws: VP8ParseError.self) { try bytes.parsedDescriptor() }
                continue
            }
            let (descriptor, size) = try bytes.parsedDescriptor()
            guard let expected = row["expected"] as? [String: Any] else { continue }
            #expect(descriptor.startsPartition == (expected["partition_start"] as? Int == 1))
            #expect(descriptor.partitionIndex == UInt8(expected["partition_id"] as? Int ?? 0))
            let pictureID: Int? =
                switch descriptor.pictureID {
                case nil: nil
                case .short(let value): Int(value)
                case .long(let value): Int(value)
                }
            #expect(pictureID == expected["picture_id"] as? Int)
            #expect(descriptor.baseLayerPictureIndex.map { Int($0) } == expected["tl0picidx"] as? Int)
            #expect(descriptor.keyFrameIndex.map { Int($0) } == expected["keyidx"] as? Int)
            #expect((descriptor.temporalIndex == nil) == !(expected["tid"] is String))
            let buffer = PacketBuffer()
            descriptor.write(to: buffer)
            #expect([UInt8](copying: buffer.bytes) == Array(bytes[..<size]))
        }
    }

    @Test func `a packet that has every field`() throws {
        let bytes = try #require([UInt8](hexadecimal: "a6f0" + "9234" + "2a" + "71" + "00"))
        let (descriptor, size) = try bytes.parsedDescriptor()

        #expect(size == 6)
        #expect(descriptor.isNonReference)
        #expect(!descriptor.startsPartition)
        #expect(descriptor.partitionIndex == 6)
        #expect(descriptor.pictureID == .long(0x1234))
        #expect(descriptor.baseLayerPictureIndex == 42)
        #expect(descriptor.temporalIndex == 1)
        #expect(descriptor.isLayerSync)
        #expect(descriptor.keyFrameIndex == 17)
    }

    @Test func `the first frame of a file is a key frame with a size`() throws {
        let file = try Fixture.bytes("vp8/vp80-00-comprehensive-001.ivf")
        let size = Int(file[32]) | Int(file[33]) << 8 | Int(file[34]) << 16
        let frame = Array(file[44..<44 + size])
        let header = try #require(frame.vp8FrameHeader)

        #expect(header.isKeyFrame)
        #expect(header.isShown)
        #expect(header.size?.width == 176)
        #expect(header.size?.height == 144)
    }

    @Test(arguments: [1, 64, 1155, 1156, 1157, 5000, 100_000])
    func `frames are cut into equal pieces that make up the frame`(size: Int) throws {
        var packetizer = VP8Packetizer(firstPictureID: 0x7FFF)
        let planned = packetizer.plan(frameSize: size, maximumPayloadSize: 1160, temporalLayer: nil)
        let following = packetizer.plan(frameSize: 1, maximumPayloadSize: 1160, temporalLayer: nil)
        let plan = try #require(planned)

        #expect(plan.descriptor.pictureID == .long(0x7FFF))
        let ranges = (0..<plan.pieceCount).map { plan.range(of: $0) }
        #expect(ranges.first?.lowerBound == 0)
        #expect(ranges.last?.upperBound == size)
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(Set(ranges.dropLast().map(\.count)).count <= 1)
        #expect(ranges.allSatisfy { !$0.isEmpty && $0.count + plan.descriptor.size <= 1160 })
        #expect((0..<plan.pieceCount).filter { plan.descriptor(of: $0).startsFrame } == [0])
        #expect(following?.descriptor.pictureID == .long(0))
    }

    /// Runs captured packets through a session; the frames' sizes come back.
    private func frames(of packets: [[UInt8]], payloadType: UInt8) -> [(bytes: [UInt8], frame: ReceivedVideoFrame)] {
        let session = RTPSession(configuration: SimulatedCall.configuration(.video, seed: 1))
        var pool = PacketPool()
        var actions: [RTPSession.Action] = []
        session.setReceivePayloads([PayloadFormat(payloadType: payloadType, codec: .vp8, clockRate: 90000)])
        session.setDirections(sends: false, receives: true, at: .zero, pool: &pool, actions: &actions)
        for (index, bytes) in packets.enumerated() {
            let packet = pool.take()
            packet.assign(bytes)
            session.receiveRTP(packet, at: .zero + .milliseconds(10 * index), pool: &pool, actions: &actions)
        }
        return actions.compactMap { action in
            guard case .videoFrame(let frame) = action else { return nil }
            return ([UInt8](copying: frame.buffer.bytes), frame)
        }
    }

    @Test func `PictureIDs of either width, their wraps, and none at all lose no picture`() throws {
        let runs = try #require(Fixture.object("reports/R144.json")["runs"] as? [[String: Any]])
        for run in runs {
            let name = run["name"] as? String ?? ""
            let packets = try #require(run["rtp_b64"] as? [String]).map { try #require([UInt8](base64: $0)) }
            let result = frames(of: packets, payloadType: 96)
            #expect(result.count == packets.count, "\(name)")
            #expect(
                result.map(\.frame.isKeyFrame) == [true] + Array(repeating: false, count: packets.count - 1), "\(name)")
            let identifiers = result.compactMap(\.frame.pictureID)
            #expect(zip(identifiers, identifiers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(name)")
        }
    }

    @Test func `a capture gives all its frames`() throws {
        let packets = try Capture.udpPayloads(Fixture.bytes("vp8/vp8.pcap"))
        let headers = try packets.map { try $0.parsedHeader() }
        let result = frames(of: packets, payloadType: headers[0].payloadType)

        #expect(packets.count > 50)
        #expect(result.count == Set(headers.map(\.timestamp)).count)
        #expect(result.first?.frame.isKeyFrame == true)
    }
}
