import ArgumentParser
import Inlet

/// The value of `--queue`.
struct QueueOption {
    let policy: QueuePolicy

    init(_ text: String) throws {
        let parts = text.split(atByte: ":")
        let count = parts.count == 2 ? Int(parts[1]).flatMap { (1...1024).contains($0) ? $0 : nil } : nil
        switch (parts[0], parts.count, count) {
        case ("latest", 1, _): policy = .latest
        case ("lossless", 1, _): policy = .lossless()
        case ("lossless", 2, let count?): policy = .lossless(count)
        case ("buffered", 2, let count?): policy = .buffered(count, dropping: .oldest)
        default:
            throw ValidationError(
                "--queue takes latest, buffered:N or lossless[:N] with N from 1 to 1024, not '\(text)'.")
        }
    }
}

extension RunCommand {
    static func positive(_ text: String, _ option: String) throws -> UInt64 {
        guard let number = UInt64(text), number > 0 else {
            throw ValidationError("\(option) takes a whole number from 1 on, not '\(text)'.")
        }
        return number
    }

    static func time(_ text: String, _ option: String) throws -> Duration {
        guard let time = Duration(optionText: text), time > .zero else {
            throw ValidationError("\(option) takes a time above zero such as 3, 1.5s or 500ms, not '\(text)'.")
        }
        return time
    }

    static func size(_ text: String, _ option: String) throws -> ImageSize {
        guard let size = ImageSize(optionText: text), size.isValid else {
            throw ValidationError(
                "\(option) takes WIDTHxHEIGHT from 1x1 to \(ImageSize.maximumDimension)x\(ImageSize.maximumDimension), not '\(text)'."
            )
        }
        return size
    }

    static func rate(_ text: String, _ option: String) throws -> Rational {
        guard let rate = Rational(optionText: text), rate > Rational(0) else {
            throw ValidationError("\(option) takes a rate above zero such as 10 or 30000/1001, not '\(text)'.")
        }
        return rate
    }
}
