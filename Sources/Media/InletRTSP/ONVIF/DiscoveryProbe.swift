/// The message that asks the devices of a network to describe themselves (WS-Discovery of April 2005, section 5, as
/// profiled by section 7 of ONVIF's Core Specification).
package struct DiscoveryProbe: Sendable, Equatable {
    /// The message's identifier, which answers repeat.
    package let messageID: [UInt8]

    /// - Parameter random: 16 random bytes; missing ones count as 0.
    package init(random: [UInt8]) {
        // A UUID of version 4 (RFC 9562, 5.4).
        var bytes = Array((random + Array(repeating: 0, count: 16)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array("0123456789abcdef".utf8)
        var text = Array("urn:uuid:".utf8)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        messageID = text
    }

    /// The SOAP 1.2 envelope, which is less than 1 KiB.
    package var envelope: [UInt8] {
        let id = String(decoding: messageID, as: UTF8.self)
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" \
            xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" \
            xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" \
            xmlns:dn="http://www.onvif.org/ver10/network/wsdl"><s:Header>\
            <a:Action s:mustUnderstand="1">http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action>\
            <a:MessageID>\(id)</a:MessageID>\
            <a:ReplyTo><a:Address>http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous</a:Address>\
            </a:ReplyTo><a:To s:mustUnderstand="1">urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To></s:Header>\
            <s:Body><d:Probe><d:Types>dn:NetworkVideoTransmitter</d:Types></d:Probe></s:Body></s:Envelope>
            """.utf8)
    }
}
