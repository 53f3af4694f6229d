import OffhookSIP
import Testing

@Suite struct `Multipart bodies` {
    private func request(type: String, _ body: String) -> SIPRequest {
        var request = SIPRequest(method: .invite, uri: .other("tel:1"), body: Array(body.utf8))
        request.headers.append(.contentType, type)
        return request
    }

    private func sdp(type: String, _ body: String) -> String? {
        request(type: type, body).body(ofType: "application/sdp").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("application/sdp", "v=0"), ("Application/SDP;charset=x", "v=0"),
        ("multipart/mixed;boundary=b", "--b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--b--\r\n"),
        ("multipart/mixed;boundary=b", "x\n--b\nc: application/sdp\n\nv=0\n--b  \n\ntext\n--b--"),
        ("multipart/mixed;boundary=b", "--b\r\n\r\nv=1\r\n--b\r\nc: application/sdp\r\n\r\nv=0\r\n--b--"),
        (#"multipart/related;boundary="a b""#, "--a b\r\nc: application/sdp\r\n\r\nv=0\r\n--a b--"),
        (
            "multipart/mixed;boundary=o",
            "--o\r\nc: multipart/mixed;boundary=i\r\n\r\n--i\r\nc: application/sdp\r\n\r\nv=0\r\n--i--\r\n--o--"
        ),
        (
            "multipart/alternative;boundary=b",
            "--b\r\nc: application/sdp\r\n\r\nv=1\r\n--b\r\nc: application/sdp\r\n\r\nv=0\r\n--b--"
        ),
    ])
    func `give the part that is asked for`(type: String, body: String) {
        #expect(sdp(type: type, body) == "v=0")
    }

    @Test(arguments: [
        ("text/plain", "v=0"), ("multipart/mixed", "--b\r\nc: application/sdp\r\n\r\nv=0\r\n--b--"),
        ("multipart/mixed;boundary=b", ""), ("multipart/mixed;boundary=b", "--b"),
        ("multipart/mixed;boundary=b", "--bb\r\nc: application/sdp\r\n\r\nv=0\r\n--bb--"),
        ("multipart/mixed;boundary=b", "--b--\r\n--b\r\nc: application/sdp\r\n\r\nv=0\r\n--b--"),
    ])
    func `give nothing that is not there`(type: String, body: String) {
        #expect(sdp(type: type, body) == nil)
    }

    @Test func `tell which parts must be understood`() {
        let body = """
            --b\r\nContent-Type: a/b\r\nContent-Disposition: x;handling=Required\r\n\r\n1\r\n\
            --b\r\nContent-Disposition: x;handling=optional\r\n\r\n2\r\n--b--
            """

        let parts = MultipartBody.parts(
            of: Array(body.utf8), contentType: MediaType(parsing: "multipart/mixed;boundary=b"))

        #expect(parts.map(\.isHandlingRequired) == [true, false])
        #expect(parts.map(\.body) == [[0x31], [0x32]])
    }

    @Test func `end their search within bodies that lie in themselves`() {
        let body = String(repeating: "--b\r\nc: multipart/mixed;boundary=b\r\n\r\n", count: 2000)

        #expect(sdp(type: "multipart/mixed;boundary=b", body) == nil)
    }
}
