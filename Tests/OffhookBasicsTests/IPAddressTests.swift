import OffhookBasics
import Testing

@Suite struct `IP address` {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("[2001:db8::9:1]", "2001:db8::9:1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("::ffff:192.0.2.3", "192.0.2.3"),
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("fe80::1:0:0:1", "fe80::1:0:0:1"),
    ])
    func `reads every form and prints the canonical one`(text: String, canonical: String) throws {
        let address = try #require(IPAddress(parsing: text))

        #expect(address.description == canonical)
        #expect(IPAddress(parsing: address.description) == address)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.256", "1.2.3.4.5", "01234.1.1.1", "1:2:3:4:5:6:7", "1::2::3", ":1", "1:", "12345::", "g::",
        "[1.2.3.4]",
        "1:2:3:4:5:6:7:8:9", "::1.2.3", "host",
    ])
    func `refuses what is no address`(text: String) {
        #expect(IPAddress(parsing: text) == nil)
    }

    @Test func `knows loopback, unspecified and multicast addresses`() throws {
        #expect(try #require(IPAddress(parsing: "127.9.9.9")).isLoopback)
        #expect(try #require(IPAddress(parsing: "::1")).isLoopback)
        #expect(try #require(IPAddress(parsing: "0.0.0.0")).isUnspecified)
        #expect(try #require(IPAddress(parsing: "224.0.1.75")).isMulticast)
        #expect(try !#require(IPAddress(parsing: "192.0.2.1")).isMulticast)
    }

    @Test(arguments: ["192.0.2.1:5060", "[2001:db8::1]:5061"])
    func `an endpoint reads what it prints`(text: String) throws {
        #expect(try #require(Endpoint(parsing: text)).description == text)
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1:5060", "192.0.2.1:70000", ":5060", "[::1]"])
    func `an endpoint needs an address and a port`(text: String) {
        #expect(Endpoint(parsing: text) == nil)
    }
}
