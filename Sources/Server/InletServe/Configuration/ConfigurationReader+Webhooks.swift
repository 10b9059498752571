import InletCore

extension ConfigurationReader {
    /// Returns the webhooks of a configuration.
    func webhooks(
        _ node: ConfigurationNode?, _ problems: inout [ConfigurationProblem]
    ) -> [String: WebhookSettings] {
        var result: [String: WebhookSettings] = [:]
        for member in (node?.members ?? []).prefix(32) where CameraName.isValid(member.key) {
            // A value of another shape has been reported already.
            guard let place = member.value["url"], place.scalar?.isEmpty == false || !place.members.isEmpty else {
                continue
            }
            do throws(InletError) {
                result[member.key] = try webhook(member.value, place)
            } catch {
                problems.append(.init(error.message, at: member.value.place, path: "webhooks.\(member.key)"))
            }
        }
        return result
    }

    private func webhook(
        _ node: ConfigurationNode, _ place: ConfigurationNode
    ) throws(InletError) -> WebhookSettings {
        let text = if let text = place.scalar { text } else { try secret(of: place, "the address") }
        var settings = WebhookSettings(address: try WebhookAddress(text))
        if case .list(let kinds) = node["kinds"]?.content {
            guard !kinds.isEmpty else {
                throw InletError(.invalidConfiguration, "The list of kinds is empty. Remove kinds: to select all.")
            }
            settings.kinds = Set(kinds.compactMap(\.scalar))
        }
        settings.cameras = try cameras(of: node)
        if let secret = node["secret"], case .object = secret.content {
            settings.key = try WebhookKey(secret: try self.secret(of: secret, "the secret"))
        }
        settings.authorities = node["ca"]?.scalar
        settings.limit = node["timeout"]?.scalar.flatMap(ScalarRule.duration) ?? settings.limit
        func number(_ key: String) -> Int? {
            node[key]?.scalar.flatMap { TextBytes.number($0.utf8, upTo: 4096) }.flatMap { $0 > 0 ? $0 : nil }
        }
        settings.attempts = number("attempts") ?? settings.attempts
        settings.queue = number("queue") ?? settings.queue
        return settings
    }
}
