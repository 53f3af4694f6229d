internal import COpenSSL

/// Hashes of whole messages, by OpenSSL.
enum MessageDigest {
    enum Function {
        case md5
        case sha1
        case sha224
        case sha256
        case sha384
        case sha512
        case sha512Truncated256
    }

    static func hash(_ bytes: [UInt8], with function: Function) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let succeeded = EVP_Digest(bytes, bytes.count, &output, &count, implementation(of: function), nil)
        precondition(succeeded == 1, "OpenSSL's default provider, with all of these functions, must be there")
        return Array(output.prefix(Int(count)))
    }

    static func implementation(of function: Function) -> OpaquePointer? {
        switch function {
        case .md5: EVP_md5()
        case .sha1: EVP_sha1()
        case .sha224: EVP_sha224()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        case .sha512Truncated256: EVP_sha512_256()
        }
    }
}
