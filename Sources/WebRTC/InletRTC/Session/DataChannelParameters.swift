/// A data channel that this side opens with each of its offers.
public struct DataChannelParameters: Sendable, Hashable {
    /// The name of the channel for both sides.
    public var label: String
    /// The delivery guarantee. The default is ``DataDelivery/ordered``.
    public var delivery: DataDelivery

    public init(_ label: String, _ delivery: DataDelivery = .ordered) {
        self.label = label
        self.delivery = delivery
    }
}

extension DataChannelParameters: Codable {
    private enum CodingKeys: String, CodingKey { case label }

    /// Reads `label` and the keys of ``DataDelivery``.
    public init(from decoder: any Decoder) throws {
        label = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .label)
        delivery = try DataDelivery(from: decoder)
    }

    /// Writes the form that ``init(from:)`` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(label, forKey: .label)
        try delivery.encode(to: encoder)
    }
}
