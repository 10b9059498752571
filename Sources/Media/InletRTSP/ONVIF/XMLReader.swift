package import InletCore

/// Reads the subset of XML (1.0, fifth edition) that SOAP answers use: no document type, and thus no entities but the
/// five predefined ones. SOAP permits neither (SOAP 1.2 part 1, section 5).
///
/// Time and memory depend only on the number of bytes.
package struct XMLReader {
    private let bytes: [UInt8]
    private var position = 0
    private var elements = 0
    /// The elements that are open, the outermost first.
    private var unfinished: [Open] = []
    private var root: XMLElement?

    /// The deepest nesting that is read; ONVIF's own types have less than half of it.
    private static let deepest = 64
    private static let mostElements = 32_768
    private static let mostAttributes = 64

    /// An element whose end is not read yet.
    private struct Open {
        /// The name as written.
        var tag: ArraySlice<UInt8>
        var element: XMLElement
        /// The declarations of namespaces, with their names as written.
        var declarations: [XMLElement.Attribute] = []
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the outermost element of a document.
    ///
    /// - Parameter bytes: the document in UTF-8, or any encoding that shares the characters of ASCII.
    /// - Throws: ``InletError/Code/malformedData`` for what is not well-formed, a document type, an entity that is not
    ///   predefined, or too many elements.
    package static func root(of bytes: [UInt8]) throws(InletError) -> XMLElement {
        var reader = XMLReader(bytes)
        return try reader.read()
    }

    private mutating func read() throws(InletError) -> XMLElement {
        // A byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "<") {
                try readMarkup()
            } else {
                try readText()
            }
        }
        guard let root, unfinished.isEmpty else { throw Self.malformed("ends too early") }
        return root
    }

    private mutating func readMarkup() throws(InletError) {
        if skip("<?") { return try skipPast("?>") }
        if skip("<!--") { return try skipPast("-->") }
        if skip("<![CDATA[") {
            let start = position
            try skipPast("]]>")
            return try append(bytes[start..<(position - 3)])
        }
        if skip("<!") { throw Self.malformed("has a document type") }
        if skip("</") { return try readEndTag() }
        position += 1
        try readStartTag()
    }

    private mutating func readStartTag() throws(InletError) {
        elements += 1
        guard root == nil, elements <= Self.mostElements, unfinished.count < Self.deepest else {
            throw Self.malformed("has too many elements")
        }
        let tag = try readName()
        var begun = Open(tag: tag, element: XMLElement(name: Self.local(tag)))
        while true {
            let hasSpace = skipSpace()
            if skip("/>") { return try close(begun) }
            if skip(">") {
                unfinished.append(begun)
                return
            }
            guard hasSpace, begun.element.attributes.count + begun.declarations.count < Self.mostAttributes else {
                throw Self.malformed("has a damaged element")
            }
            let name = try readName()
            _ = skipSpace()
            guard skip("=") else { throw Self.malformed("has an attribute without a value") }
            _ = skipSpace()
            let value = try readValue()
            if name.elementsEqual("xmlns".utf8) || name.starts(with: "xmlns:".utf8) {
                begun.declarations.append(.init(name: Array(name), value: value))
            } else {
                begun.element.attributes.append(.init(name: Self.local(name), value: value))
            }
        }
    }

    private mutating func readEndTag() throws(InletError) {
        let tag = try readName()
        _ = skipSpace()
        guard skip(">"), let last = unfinished.popLast(), last.tag.elementsEqual(tag) else {
            throw Self.malformed("has an end without a beginning")
        }
        try close(last)
    }

    /// Puts a complete element in its place.
    private mutating func close(_ open: Open) throws(InletError) {
        var element = open.element
        element.text = Self.trimmed(element.text)
        if let parent = unfinished.last?.element,
            parent.isNamed("ReferenceParameters") || parent.isNamed("ReferenceProperties")
        {
            element.reference = reference(open)
        }
        if unfinished.isEmpty {
            guard root == nil else { throw Self.malformed("has several outermost elements") }
            root = element
        } else {
            unfinished[unfinished.count - 1].element.children.append(element)
        }
    }

    /// Returns the element that has just ended as it was written, with the attribute that WS-Addressing 1.0 (SOAP
    /// Binding, section 3.4) wants and the namespaces that are declared around it; empty if it is too long.
    private func reference(_ open: Open) -> [UInt8] {
        guard position - open.tag.startIndex <= Self.longestReference else { return [] }
        // Innermost first, of which each name counts once.
        var names = open.declarations.map(\.name)
        var result = [UInt8(ascii: "<")] + open.tag + Array(Self.referenceMark.utf8)
        for declaration in unfinished.reversed().flatMap(\.declarations) where !names.contains(declaration.name) {
            names.append(declaration.name)
            result += [0x20] + declaration.name + Array("=\"".utf8) + Self.escaped(declaration.value)
            result.append(UInt8(ascii: "\""))
            guard result.count <= Self.longestReference else { return [] }
        }
        guard !names.contains(Array("xmlns:\(Self.referencePrefix)".utf8)) else { return [] }
        return result + bytes[open.tag.endIndex..<position]
    }

    /// The longest copy of an element.
    private static let longestReference = 512
    /// A prefix that no device uses.
    private static let referencePrefix = "inlet-addressing"
    private static let referenceMark =
        " xmlns:\(referencePrefix)=\"http://www.w3.org/2005/08/addressing\" "
        + "\(referencePrefix):IsReferenceParameter=\"true\""

    private mutating func readText() throws(InletError) {
        let start = position
        position = bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        try append(Self.resolved(bytes[start..<position])[...])
    }

    private mutating func append(_ text: ArraySlice<UInt8>) throws(InletError) {
        if unfinished.isEmpty {
            guard text.allSatisfy(Self.isSpace) else { throw Self.malformed("has text outside of elements") }
        } else {
            unfinished[unfinished.count - 1].element.text += text
        }
    }

    private mutating func readName() throws(InletError) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, Self.isName(bytes[position]) { position += 1 }
        guard position > start else { throw Self.malformed("has an element or attribute without a name") }
        return bytes[start..<position]
    }

    private mutating func readValue() throws(InletError) -> [UInt8] {
        guard position < bytes.count, "\"'".utf8.contains(bytes[position]) else {
            throw Self.malformed("has a value without quotes")
        }
        let quote = bytes[position]
        position += 1
        guard let end = bytes[position...].firstIndex(of: quote) else { throw Self.malformed("ends in a value") }
        defer { position = end + 1 }
        guard !bytes[position..<end].contains(UInt8(ascii: "<")) else { throw Self.malformed("has a damaged value") }
        return try Self.resolved(bytes[position..<end])
    }

    // MARK: Characters

    /// Returns the text with its references replaced (XML 1.0, section 4.1).
    private static func resolved(_ text: ArraySlice<UInt8>) throws(InletError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "&") else {
                result.append(byte)
                continue
            }
            // The longest is that of the last character, in hexadecimal digits with some zeros.
            guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")), let value = value(of: rest[..<end])
            else { throw malformed("has an entity that XML does not predefine") }
            result += value
            rest = rest[(end + 1)...]
        }
        return result
    }

    private static func value(of reference: ArraySlice<UInt8>) -> [UInt8]? {
        for (name, value) in [("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'")]
        where reference.elementsEqual(name.utf8) { return Array(value.utf8) }
        guard reference.first == UInt8(ascii: "#") else { return nil }
        let digits = reference.dropFirst()
        let number: UInt32?
        if digits.first == UInt8(ascii: "x") {
            number = HeaderText.hexadecimal32(digits.dropFirst())
        } else {
            number = TextBytes.number(digits, upTo: 0x10FFFF).map { UInt32($0) }
        }
        guard let number, number > 0, let scalar = Unicode.Scalar(number) else { return nil }
        return Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private mutating func skip(_ text: StaticString) -> Bool {
        guard bytes[position...].starts(with: "\(text)".utf8) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    /// Skips to the end of the next occurrence of a text.
    private mutating func skipPast(_ text: StaticString) throws(InletError) {
        let wanted = Array("\(text)".utf8)
        while position < bytes.count {
            if bytes[position] == wanted[0], bytes[position...].starts(with: wanted) {
                position += wanted.count
                return
            }
            position += 1
        }
        throw Self.malformed("ends in a comment or a section")
    }

    private mutating func skipSpace() -> Bool {
        let start = position
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        return position > start
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D, 0x0A].contains(byte) }

    /// Whether a byte may be in a name, those of characters beyond ASCII included.
    private static func isName(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte >= 0x80 || "_-.:".utf8.contains(byte)
    }

    private static func local(_ name: ArraySlice<UInt8>) -> [UInt8] {
        Array(name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name)
    }

    private static func trimmed(_ text: [UInt8]) -> [UInt8] {
        var rest = text[...]
        while let first = rest.first, isSpace(first) { rest = rest.dropFirst() }
        while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
        return Array(rest)
    }

    private static func malformed(_ what: String) -> InletError {
        InletError(.malformedData, "The ONVIF service's answer \(what). Check the address of the device service.")
    }

    /// Returns the text with the characters replaced that have a meaning in XML. Control characters, which XML cannot
    /// carry, become spaces.
    static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "&"): Array("&amp;".utf8)
            case UInt8(ascii: "<"): Array("&lt;".utf8)
            case UInt8(ascii: ">"): Array("&gt;".utf8)
            case UInt8(ascii: "\""): Array("&quot;".utf8)
            case 0..<0x20, 0x7F: [0x20]
            default: [byte]
            }
        }
    }
}
