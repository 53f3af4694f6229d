/// The `o=` line: who made the description, and which version of it this is (RFC 8866 §5.2).
package struct Origin: Hashable, Sendable {
    package var userName: String
    /// A number as RFC 8866 has it; kept as text, since some peers write more digits than 64 bits hold.
    package var sessionID: String
    package var sessionVersion: String
    package var networkType: String
    package var addressType: String
    package var address: String

    package init(
        userName: String = "-", sessionID: String, sessionVersion: String, networkType: String = "IN",
        addressType: String = "IP4", address: String
    ) {
        self.userName = userName
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.networkType = networkType
        self.addressType = addressType
        self.address = address
    }

    /// Reads what follows `o=`; a user name with blanks in it, which some devices write, is taken whole.
    ///
    /// Nothing hangs on the peer's origin, so a line with too few fields is kept as a user name alone.
    init?(parsing text: Substring) {
        let fields = text.fields()
        guard !fields.isEmpty else { return nil }
        guard fields.count >= 6 else {
            self.init(
                userName: fields.joined(separator: " "), sessionID: "", sessionVersion: "", networkType: "",
                addressType: "", address: "")
            return
        }
        let tail = fields.suffix(5).map(String.init)
        self.init(
            userName: fields.dropLast(5).joined(separator: " "), sessionID: tail[0], sessionVersion: tail[1],
            networkType: tail[2], addressType: tail[3], address: tail[4])
    }

    var text: String {
        guard !sessionID.isEmpty else { return userName }
        return "\(userName) \(sessionID) \(sessionVersion) \(networkType) \(addressType) \(address)"
    }
}
