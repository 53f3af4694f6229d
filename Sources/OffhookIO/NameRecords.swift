internal import CCares
internal import Glibc
internal import OffhookBasics

/// Reads what c-ares made of answers into our own values.
enum NameRecords {
    static func naptr(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> [NAPTRRecord] {
        var list: UnsafeMutablePointer<ares_naptr_reply>?
        guard ares_parse_naptr_reply(bytes, count, &list) == cares_success else { return [] }
        defer { ares_free_data(list) }
        var records: [NAPTRRecord] = []
        var next = list
        while let record = next {
            records.append(
                NAPTRRecord(
                    order: record.pointee.order, preference: record.pointee.preference,
                    flags: text(record.pointee.flags),
                    service: text(record.pointee.service), replacement: text(record.pointee.replacement)))
            next = record.pointee.next
        }
        return records
    }

    static func srv(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> [SRVRecord] {
        var list: UnsafeMutablePointer<ares_srv_reply>?
        guard ares_parse_srv_reply(bytes, count, &list) == cares_success else { return [] }
        defer { ares_free_data(list) }
        var records: [SRVRecord] = []
        var next = list
        while let record = next {
            records.append(
                SRVRecord(
                    priority: record.pointee.priority, weight: record.pointee.weight, port: record.pointee.port,
                    target: text(record.pointee.host)))
            next = record.pointee.next
        }
        return records
    }

    /// The addresses in the order of RFC 6724, which c-ares has put them in.
    static func addresses(_ list: UnsafeMutablePointer<ares_addrinfo>?) -> [IPAddress] {
        var addresses: [IPAddress] = []
        var next = list?.pointee.nodes
        while let node = next {
            if let address = address(node.pointee), !addresses.contains(address) { addresses.append(address) }
            next = node.pointee.ai_next
        }
        return addresses
    }

    private static func address(_ node: ares_addrinfo_node) -> IPAddress? {
        let raw = UnsafeRawPointer(node.ai_addr)
        switch node.ai_family {
        case AF_INET:
            return raw.map {
                IPAddress(version4: UInt32(bigEndian: $0.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
            }
        case AF_INET6:
            guard let address = raw?.loadUnaligned(as: sockaddr_in6.self) else { return nil }
            return withUnsafeBytes(of: address.sin6_addr) { bytes in
                IPAddress(
                    version6High: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                    scope: address.sin6_scope_id)
            }
        default: return nil
        }
    }

    private static func text(_ bytes: UnsafeMutablePointer<UInt8>?) -> String {
        bytes.map { String(cString: $0) } ?? ""
    }

    private static func text(_ characters: UnsafeMutablePointer<CChar>?) -> String {
        characters.map { String(cString: $0) } ?? ""
    }
}
