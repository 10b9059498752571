import InletCore

extension SourceDemand {
    /// Makes the lowest rate and the smallest size that give every receiver what it wants.
    ///
    /// No receiver, or one without a limit, makes the demand unlimited: a receiver may be attached at any time, and
    /// should not have to wait for a camera to change its mode. Wants that cannot be fulfilled end their sink, and are
    /// ignored.
    init(serving wants: [SinkWants]) {
        let wants = wants.filter { (try? $0.validate()) != nil }
        self.init(
            maximumFrameRate: Self.most(wants, \.maximumFrameRate, max),
            largestSize: Self.most(wants, \.neededSize) {
                ImageSize(width: max($0.width, $1.width), height: max($0.height, $1.height))
            })
    }

    /// Returns all limits combined; nil if one of the wants has no limit.
    private static func most<Limit>(
        _ wants: [SinkWants], _ limit: (SinkWants) -> Limit?, _ join: (Limit, Limit) -> Limit
    ) -> Limit? {
        var result: Limit?
        for wants in wants {
            guard let limit = limit(wants) else { return nil }
            result = result.map { join($0, limit) } ?? limit
        }
        return result
    }
}

extension SinkWants {
    /// The size at which a source's picture, if at least as wide and as high, need not be enlarged; nil if only the
    /// source's own size will do. It is the size before any rotation, with square pixels assumed.
    fileprivate var neededSize: ImageSize? {
        guard var needed = size ?? largestSize else { return nil }
        switch crop {
        case .none: break
        case .exact: return nil
        case .center(let shape):
            // The part in the middle has the whole width or the whole height of the picture, so it is large enough when
            // a part of that shape in a picture of this size is.
            let across = Double(needed.height) * shape.doubleValue
            let down = Double(needed.width) / shape.doubleValue
            if size != nil {
                needed.width = max(needed.width, Int(clamped: across.rounded(.up)))
                needed.height = max(needed.height, Int(clamped: down.rounded(.up)))
            } else {
                needed.width = min(needed.width, Int(clamped: across.rounded(.up)))
                needed.height = min(needed.height, Int(clamped: down.rounded(.up)))
            }
        }
        guard rotation == .applied else { return needed }
        // The rotation of the source's pictures is not known before they arrive: the size must do either way.
        let side = max(needed.width, needed.height)
        return ImageSize(width: side, height: side)
    }
}

extension Int {
    /// Makes the number, limited to the largest dimension of a picture.
    fileprivate init(clamped number: Double) { self = Int(Swift.min(number, Double(ImageSize.maximumDimension))) }
}
