#if GStreamer
import CRestream
package import InletCore
package import InletServe
import Synchronization

import Glibc

// Unsafe: owns an RTSP server and the context of its callbacks.
/// Serves cameras over RTSP with gst-rtsp-server, with a pipeline for each reader. Safe from any thread.
@safe package final class RTSPRestreamServer: RestreamServer {
    // After `init`, only `stop()` uses the server, and removes it.
    private let server: Mutex<Handle?>
    package let port: Int

    /// `@unchecked Sendable`: the caller that takes the handle out of the mutex is its only owner, and
    /// `inlet_restream_stop` may be called on any thread.
    @safe private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Starts to listen for readers.
    ///
    /// - Throws: ``InletError/Code/notFound`` if a part of GStreamer is missing; ``InletError/Code/busy`` if the
    ///   address is in use; ``InletError/Code/permissionDenied`` if the port is for root;
    ///   ``InletError/Code/inputOutput`` for other errors of the system, such as an address of another machine.
    package init(_ request: RestreamRequest) throws(InletError) {
        if let missing = unsafe inlet_restream_missing() {
            throw InletError(
                .notFound,
                "Cannot serve cameras over RTSP: GStreamer lacks \(unsafe String(cString: missing)). Install "
                    + "gstreamer1.0-plugins-good and gstreamer1.0-plugins-base.")
        }
        let box = unsafe Unmanaged.passRetained(Questions(request))
        var handlers = inlet_restream_handlers()
        unsafe handlers.admit = { unsafe Questions.of($0)?.admit($1, $2) ?? 0 }
        unsafe handlers.request = { unsafe Questions.of($0)?.wait(for: $2, $3, on: $1) ?? 0 }
        unsafe handlers.allow = { unsafe Questions.of($0)?.door.allow(Int($1)) }
        unsafe handlers.leave = { unsafe Questions.of($0)?.door.leave(Int($1)) }
        unsafe handlers.permits = { unsafe Questions.of($0)?.permits($1, $2) ?? Questions.absent }
        unsafe handlers.open = { unsafe Questions.of($0)?.open($1, $2, $3, $4, $5) ?? Questions.absent }
        unsafe handlers.close = { unsafe OpenStream.close($0) }
        unsafe handlers.release = { owner in
            if let owner = unsafe owner { unsafe Unmanaged<Questions>.fromOpaque(owner).release() }
        }
        let users = unsafe inlet_restream_users_new()
        for (name, password) in request.users { unsafe inlet_restream_users_add(users, name, password) }
        var code: CInt = 0
        var text: UnsafeMutablePointer<CChar>?
        let made = unsafe inlet_restream_start(
            request.host, CInt(request.port), users, CInt(request.connections), handlers, box.toOpaque(), &code,
            &text)
        guard let made = unsafe made else {
            defer { unsafe free(text) }
            unsafe box.release()
            throw Self.failure(code, unsafe text.map { unsafe String(cString: $0) } ?? "", request)
        }
        port = unsafe Int(inlet_restream_port(made))
        server = unsafe Mutex(Handle(pointer: made))
    }

    private static func failure(_ code: CInt, _ text: String, _ request: RestreamRequest) -> InletError {
        let place = "\(request.host) port \(request.port)"
        return switch code {
        case EADDRINUSE:
            InletError(
                .busy, "Cannot listen at \(place): the port is in use. Choose another for restream:, or 0 for any.")
        case EACCES: InletError(.permissionDenied, "The system refuses \(place): ports below 1024 are for root.")
        default: InletError(.inputOutput, "Cannot listen for RTSP readers at \(place): \(text)")
        }
    }

    package func stop() {
        let taken = server.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let taken { unsafe inlet_restream_stop(taken.pointer) }
    }
}

/// The requests of the server, which it makes on its own threads.
private final class Questions: Sendable {
    private let request: RestreamRequest

    init(_ request: RestreamRequest) { self.request = request }

    var door: RestreamDoor { request.door }

    func admit(_ address: UnsafePointer<CChar>?, _ replaced: UnsafeMutablePointer<Int64>?) -> Int64 {
        guard let address = unsafe address, let admitted = door.admit(unsafe String(cString: address)) else {
            return 0
        }
        unsafe replaced?.pointee = Int64(admitted.replaced ?? 0)
        return Int64(admitted.id)
    }

    /// Returns the seconds after which the client may repeat the request; 0 if the request is answered.
    func wait(for login: inlet_restream_login, _ user: UnsafePointer<CChar>?, on id: Int64) -> CInt {
        let name = unsafe user.map { unsafe String(cString: $0) } ?? ""
        let shown: RestreamDoor.Login =
            switch login {
            case inlet_restream_right_login: .right(name)
            case inlet_restream_expired_login: .expired(name)
            case inlet_restream_wrong_login: .wrong
            default: .none
            }
        return door.wait(for: shown, on: Int(id)).map { CInt(clamping: $0.components.seconds + 1) } ?? 0
    }

    /// The status for a camera that does not exist.
    static let absent = CInt(RestreamRefusal.notFound.rawValue)

    static func of(_ owner: UnsafeMutableRawPointer?) -> Questions? {
        guard let owner = unsafe owner else { return nil }
        return unsafe Unmanaged<Questions>.fromOpaque(owner).takeUnretainedValue()
    }

    func permits(_ user: UnsafePointer<CChar>?, _ camera: UnsafePointer<CChar>?) -> CInt {
        guard let camera = unsafe camera else { return Self.absent }
        let name = unsafe user.map { unsafe String(cString: $0) }
        return request.permits(name, unsafe String(cString: camera))
            ? inlet_restream_ok : Self.absent
    }

    func open(
        _ user: UnsafePointer<CChar>?, _ camera: UnsafePointer<CChar>?, _ reader: OpaquePointer?,
        _ format: UnsafeMutablePointer<inlet_restream_format>?,
        _ stream: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> CInt {
        guard let camera = unsafe camera, let reader = unsafe reader, let format = unsafe format,
            let stream = unsafe stream
        else { return Self.absent }
        do throws(RestreamRefusal) {
            let opened = try request.open(
                unsafe user.map { unsafe String(cString: $0) }, unsafe String(cString: camera),
                unsafe ReaderOutlet(reader))
            guard let texts = opened.beginning.flatMap({ RestreamFormat($0) }) else {
                opened.close()
                throw .unsupportedMediaType
            }
            unsafe format.pointee.caps = strdup(texts.caps)
            unsafe format.pointee.payloader = strdup(texts.payloader)
            unsafe stream.pointee = Unmanaged.passRetained(OpenStream(opened)).toOpaque()
            return inlet_restream_ok
        } catch {
            return CInt(error.rawValue)
        }
    }
}

/// A reader's stream, as the server holds it.
private final class OpenStream: Sendable {
    let reader: RestreamReader

    init(_ reader: RestreamReader) { self.reader = reader }

    static func close(_ stream: UnsafeMutableRawPointer?) {
        guard let stream = unsafe stream else { return }
        unsafe Unmanaged<OpenStream>.fromOpaque(stream).takeRetainedValue().reader.close()
    }
}

/// Passes packets to a reader.
///
/// `@unchecked Sendable`: the pointer is valid until ``RestreamReader/close()`` has returned, after which the
/// outlet is not used. Its functions may be called on any thread, except that only the job's thread calls
/// ``push(_:)``.
@safe private final class ReaderOutlet: RestreamOutlet, @unchecked Sendable {
    private let reader: OpaquePointer

    init(_ reader: OpaquePointer) { unsafe self.reader = reader }

    func push(_ packet: EncodedPacket) -> Bool {
        let (memory, _) = unsafe packet.data.storage
        let owner = unsafe Unmanaged.passRetained(PacketOwner(packet.data)).toOpaque()
        let times = inlet_restream_times(
            shown: UInt64(clamping: packet.pts.nanoseconds), decoded: UInt64(clamping: packet.dts.nanoseconds))
        return unsafe inlet_restream_push(
            reader, memory.baseAddress, memory.count, times, packet.isKey ? 1 : 0, owner,
            { unsafe PacketOwner.release($0) }) != 0
    }

    func leave() { unsafe inlet_restream_leave(reader) }

    func end() { unsafe inlet_restream_end(reader) }
}

/// Keeps a packet's bytes while GStreamer uses them.
private final class PacketOwner: Sendable {
    private let data: PacketData

    init(_ data: PacketData) { self.data = data }

    static func release(_ owner: UnsafeMutableRawPointer?) {
        guard let owner = unsafe owner else { return }
        unsafe Unmanaged<PacketOwner>.fromOpaque(owner).release()
    }
}
#endif
