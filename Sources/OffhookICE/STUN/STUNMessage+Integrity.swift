internal import OffhookBasics

/// With which hash a message is signed (RFC 8489 §14.5, §14.6).
package enum STUNIntegrity: Hashable, Sendable {
    case sha1
    case sha256
}

/// A key, and the hash to use it with.
package struct STUNKey: Hashable, Sendable {
    package var bytes: [UInt8]
    package var integrity: STUNIntegrity

    /// The key of a short-term credential is the password itself (RFC 8489 §9.1.1).
    package init(shortTerm password: String) {
        bytes = Array(password.utf8)
        integrity = .sha1
    }

    /// RFC 8489 §9.2.2, §18.5.1.
    package init(
        username: String, realm: [UInt8], password: String, algorithm: STUNPasswordAlgorithm, integrity: STUNIntegrity,
        authenticator: any MessageAuthenticator
    ) {
        let colon = UInt8(ascii: ":")
        let text = Array(username.utf8) + [colon] + realm + [colon] + Array(password.utf8)
        bytes =
            algorithm.number == STUNPasswordAlgorithm.sha256.number
            ? authenticator.sha256(text) : authenticator.md5(text)
        self.integrity = integrity
    }
}

extension STUNMessage {
    /// Writes the message, signed where a key is given, with FINGERPRINT last where asked for.
    package func bytes(
        key: STUNKey? = nil, addingFingerprint: Bool = true, authenticator: any MessageAuthenticator
    ) -> [UInt8] {
        var writer = ByteWriter(reserving: 128)
        let method = method.rawValue
        writer.write(
            messageClass.rawValue | method & 0x000F | (method & 0x0070) << 1 | (method & 0x0F80) << 2)
        writer.write(UInt16(0))
        writer.write(Self.cookie)
        writer.write(transactionID.high)
        writer.write(transactionID.low)
        for attribute in attributes { attribute.write(to: &writer, transactionID: transactionID) }
        if let key {
            let size = key.integrity == .sha1 ? 20 : 32
            writer.setLength(addingAttributeOf: size)
            let code = Self.code(of: writer.bytes, key: key, authenticator: authenticator)
            let attribute: STUNAttribute =
                key.integrity == .sha1 ? .messageIntegrity(code) : .messageIntegritySHA256(code)
            attribute.write(to: &writer, transactionID: transactionID)
        }
        if addingFingerprint {
            writer.setLength(addingAttributeOf: 4)
            let checksum = writer.bytes.withUnsafeBytes { CRC32.checksum(of: $0.bytes) }
            STUNAttribute.fingerprint(checksum ^ Self.fingerprintMask)
                .write(to: &writer, transactionID: transactionID)
        }
        writer.setLength()
        return writer.bytes
    }

    /// Whether a message, of which these are the bytes, was signed with the key. False where it is not signed at all.
    package static func isSigned(
        _ bytes: RawSpan, key: STUNKey, authenticator: any MessageAuthenticator
    ) -> Bool {
        let type =
            key.integrity == .sha1 ? STUNAttributeType.messageIntegrity : STUNAttributeType.messageIntegritySHA256
        guard let value = valueRange(of: type, in: bytes), value.count >= 16 else { return false }
        var signed = bytes.extracting(0..<value.lowerBound - 4).array
        // The length as it was when the attribute was the last one.
        let length = value.upperBound - headerSize
        signed[2] = UInt8(truncatingIfNeeded: length >> 8)
        signed[3] = UInt8(truncatingIfNeeded: length)
        let code = code(of: signed, key: key, authenticator: authenticator)
        guard value.count <= code.count else { return false }
        // Every byte is looked at, so that the time taken tells nothing of where the first difference is.
        var difference: UInt8 = 0
        for index in 0..<value.count { difference |= code[index] ^ bytes.loadByte(at: value.lowerBound + index) }
        return difference == 0
    }

    /// Where the value of the first attribute of a type lies in a message's bytes.
    static func valueRange(of wanted: UInt16, in bytes: RawSpan) -> Range<Int>? {
        var reader = ByteReader(bytes)
        guard reader.skip(headerSize) else { return nil }
        while let type = reader.readUInt16(), let length = reader.readUInt16() {
            let start = reader.offset
            guard reader.skip(Int(length)) else { return nil }
            if type == wanted { return start..<start + Int(length) }
            guard reader.skip(-Int(length) & 3) else { return nil }
        }
        return nil
    }

    private static func code(
        of bytes: [UInt8], key: STUNKey, authenticator: any MessageAuthenticator
    ) -> [UInt8] {
        switch key.integrity {
        case .sha1: authenticator.hmacSHA1(key: key.bytes, message: bytes)
        case .sha256: authenticator.hmacSHA256(key: key.bytes, message: bytes)
        }
    }
}

extension ByteWriter {
    /// Sets the header's length to what is written, and an attribute more where one will follow.
    fileprivate mutating func setLength(addingAttributeOf size: Int? = nil) {
        let length = bytes.count - STUNMessage.headerSize + (size.map { $0 + 4 } ?? 0)
        bytes[2] = UInt8(truncatingIfNeeded: length >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: length)
    }
}
