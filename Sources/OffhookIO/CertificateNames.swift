internal import COpenSSL
internal import OffhookBasics

/// Who a certificate is for.
struct CertificateNames: Equatable {
    /// Host parts of `sip:` URIs without a user, RFC 5922 §7.1.
    var sipDomains: [String] = []
    var hosts: [String] = []
    var addresses: [IPAddress] = []
    /// The common name, which counts only where there are no alternative names at all.
    var commonName: String?
    var hasAlternativeNames = false

    /// All names, for a sentence.
    var all: [String] {
        let names = sipDomains.map { "sip:\($0)" } + hosts + addresses.map { "\($0)" }
        return names.isEmpty && !hasAlternativeNames ? commonName.map { [$0] } ?? [] : names
    }

    func matches(_ peer: TLSContext.PeerName) -> Bool {
        if let address = IPAddress(parsing: peer.text) { return addresses.contains(address) }
        let name = Self.canonical(peer.text)
        switch peer {
        case .sipDomain:
            return sipIdentities.contains { Self.canonical($0) == name }
        case .host:
            let names = hasAlternativeNames ? hosts : commonName.map { [$0] } ?? []
            return names.contains { Self.matches(pattern: Self.canonical($0), name: name) }
        }
    }

    /// RFC 5922 §7.1: SIP URIs if there are any, else DNS names, else, without alternative names, the common name.
    private var sipIdentities: [String] {
        if !sipDomains.isEmpty { return sipDomains }
        return hasAlternativeNames ? hosts : commonName.map { [$0] } ?? []
    }

    private static func canonical(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    /// RFC 6125 §6.4.3: a wildcard is the whole leftmost label and stands for one.
    private static func matches(pattern: String, name: String) -> Bool {
        if pattern == name { return true }
        guard pattern.hasPrefix("*."), let dot = name.firstIndex(of: "."), dot > name.startIndex else { return false }
        let parent = pattern.dropFirst(2)
        return parent.contains(".") && name[name.index(after: dot)...] == parent
    }
}

extension CertificateNames {
    /// Reads the names from a certificate of OpenSSL's.
    init(certificate: OpaquePointer?) {
        self.init()
        guard let certificate else { return }
        commonName = Self.commonName(of: certificate)
        guard let names = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return }
        let list = OpaquePointer(names)
        hasAlternativeNames = true
        for index in 0..<max(0, OPENSSL_sk_num(list)) {
            guard let entry = OPENSSL_sk_value(list, index) else { continue }
            add(entry.assumingMemoryBound(to: GENERAL_NAME.self).pointee)
        }
        GENERAL_NAMES_free(list)
    }

    private mutating func add(_ name: GENERAL_NAME) {
        switch name.type {
        case GEN_URI:
            guard let uri = Self.text(name.d.uniformResourceIdentifier), let domain = Self.sipDomain(ofURI: uri) else {
                return
            }
            sipDomains.append(domain)
        case GEN_DNS:
            if let host = Self.text(name.d.dNSName) { hosts.append(host) }
        case GEN_IPADD:
            if let address = Self.address(Self.bytes(name.d.iPAddress)) { addresses.append(address) }
        default: break
        }
    }

    /// The host of a `sip:` URI that names a domain: other schemes, and URIs with a user, do not count.
    static func sipDomain(ofURI uri: String) -> String? {
        guard uri.lowercased().hasPrefix("sip:"), !uri.contains("@") else { return nil }
        let host = uri.dropFirst(4).prefix { $0 != ":" && $0 != ";" && $0 != "?" }
        return host.isEmpty ? nil : String(host)
    }

    private static func bytes(_ string: UnsafeMutablePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string, let data = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(max(0, ASN1_STRING_length(string)))))
    }

    /// Printable ASCII or nothing: a zero byte in a name has fooled others into taking half of it.
    private static func text(_ string: UnsafeMutablePointer<ASN1_STRING>?) -> String? {
        let bytes = bytes(string)
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func address(_ bytes: [UInt8]) -> IPAddress? {
        let number = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: return IPAddress(version4: UInt32(number(bytes[...])))
        case 16: return IPAddress(version6High: number(bytes[..<8]), low: number(bytes[8...]))
        default: return nil
        }
    }

    private static func commonName(of certificate: OpaquePointer) -> String? {
        let subject = X509_get_subject_name(certificate)
        let index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
        guard index >= 0 else { return nil }
        return text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)))
    }
}
