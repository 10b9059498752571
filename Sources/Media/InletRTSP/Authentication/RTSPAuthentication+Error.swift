package import InletCore

extension RTSPAuthentication {
    /// Returns the error for an outcome that ends the attempt.
    package func error(_ outcome: Outcome) -> InletError {
        let offer =
            offeredSchemes.isEmpty ? "It names no scheme." : "It offers \(offeredSchemes.joined(separator: ", "))."
        switch outcome {
        case .noCredentials:
            return InletError(.authenticationFailed, "The server requires a user name and a password. \(offer)")
        case .noUsableScheme:
            let advice =
                isBasicWithheld
                ? " Basic sends the password in plain text; basic-auth=always permits that." : ""
            return InletError(
                .authenticationFailed,
                "The server offers no way of authentication that may be used. \(offer)\(advice)")
        case .refused, .retry:
            return InletError(.authenticationFailed, "The server refuses user name or password. \(offer)")
        }
    }
}
