/// An element of an XML document. Names are without their prefix, and all text is kept as bytes.
package struct XMLElement: Sendable, Equatable {
    /// The local name.
    package var name: [UInt8]
    /// The attributes by their local names, in the document's order. Declarations of namespaces are omitted.
    package var attributes: [Attribute] = []
    /// The elements inside, in the document's order.
    package var children: [XMLElement] = []
    /// The text directly inside, without the white space around it.
    package var text: [UInt8] = []

    /// The element as it can be put into the header of another message, for an element inside `ReferenceParameters` or
    /// `ReferenceProperties` (WS-Addressing 1.0, section 2.1); empty for any other.
    package var reference: [UInt8] = []

    /// An attribute of an element.
    package struct Attribute: Sendable, Equatable {
        /// The local name.
        package var name: [UInt8]
        /// The value, with references replaced.
        package var value: [UInt8]
    }

    /// Returns the first element inside with a name.
    package func child(_ name: StaticString) -> XMLElement? { children.first { $0.isNamed(name) } }

    /// Returns the first element at the end of a path of names, each inside the one before.
    package func first(_ path: StaticString...) -> XMLElement? {
        var element = self
        for name in path {
            guard let next = element.child(name) else { return nil }
            element = next
        }
        return element
    }

    /// Returns the value of an attribute; nil if the element has no such attribute.
    package func attribute(_ name: StaticString) -> [UInt8]? {
        attributes.first { $0.name.elementsEqual("\(name)".utf8) }?.value
    }

    /// Whether the element has the name.
    package func isNamed(_ name: StaticString) -> Bool { self.name.elementsEqual("\(name)".utf8) }
}
