internal import CLinux
internal import OffhookBasics

extension clinux_endpoint {
    /// The endpoint's C form; a missing address is no address at all.
    init(_ address: IPAddress?, port: UInt16 = 0) {
        self.init()
        guard let address else { return }
        self.port = port
        withUnsafeMutableBytes(of: &bytes) { room in
            if let value = address.version4Value {
                room.storeBytes(of: value.bigEndian, as: UInt32.self)
            } else {
                room.storeBytes(of: address.version6Value.high.bigEndian, as: UInt64.self)
                room.storeBytes(of: address.version6Value.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
        }
        version = address.isVersion4 ? 4 : 6
        scope = address.isVersion4 ? 0 : address.version6Value.scope
    }

    init(_ endpoint: Endpoint) {
        self.init(endpoint.address, port: endpoint.port)
    }

    /// Nil where it is no address.
    var address: IPAddress? {
        withUnsafeBytes(of: bytes) { room in
            switch version {
            case 4:
                IPAddress(version4: UInt32(bigEndian: room.loadUnaligned(as: UInt32.self)))
            case 6:
                IPAddress(
                    version6High: UInt64(bigEndian: room.loadUnaligned(as: UInt64.self)),
                    low: UInt64(bigEndian: room.loadUnaligned(fromByteOffset: 8, as: UInt64.self)), scope: scope)
            default: nil
            }
        }
    }

    var endpoint: Endpoint? {
        address.map { Endpoint($0, port) }
    }
}

extension IPAddress {
    /// Which kind of socket speaks to this address, in the shim's terms.
    var socketVersion: Int32 { isVersion4 ? 4 : 6 }
}
