import CInletPlugin
import InletCore
import InletDecode
import InletPluginIPC
import InletSystem

// Unsafe: calls the functions of a plug-in's source and reads its structs.
/// A source of a plug-in in this process.
///
/// Pictures are not copied, whether the plug-in fills Inlet's memory or lends its own. A plug-in that crashes or
/// corrupts memory ends the process; that is the user's choice.
@safe final class LoadedSource: FrameSource {
    private let configuration: PluginSourceConfiguration
    private var library: LoadedLibrary?
    private var interface = inlet_source_interface()
    private var instance: OpaquePointer?
    private var calls: SourceCalls?
    private var host: UnsafeMutablePointer<inlet_source_host>?
    private var isOpened = false
    private var assembler: ItemAssembler?
    private var names = FormatNames()

    /// How long a plug-in waits for a picture before it reports that it has none.
    private static let slice = Duration.milliseconds(500)
    /// The most bytes of parameter sets, and of a packet: more than any real ones have.
    private static let mostParameterSets: UInt64 = 65_536
    private static let longestPacket: UInt64 = 256 << 20

    init(_ configuration: PluginSourceConfiguration) { self.configuration = configuration }

    deinit { close() }

    private var name: String { configuration.program.name }

    func open(_ context: SourceContext) throws -> SourceFormat { try start(context) }

    private func start(_ context: SourceContext) throws(InletError) -> SourceFormat {
        let library = try LoadedLibrary(configuration.program)
        self.library = library
        guard let interface = try library.source() else {
            throw rejection(PluginLie("has no interface \(INLET_SOURCE_ID), which its manifest promises"))
        }
        self.interface = interface
        let calls = try SourceCalls(context)
        self.calls = calls
        let host = unsafe SourceCalls.makeHost(of: calls)
        unsafe self.host = unsafe host
        let options = try PluginCall.memory(
            of: name, scheme: configuration.scheme, address: configuration.address, options: configuration.options)
        var error = inlet_error.empty
        var made: OpaquePointer?
        let created =
            unsafe interface.create?(options.configuration, host, &made, &error) ?? inlet_result(INLET_ERROR_INTERNAL)
        // After a failure there is no instance, whatever the function has written.
        unsafe instance = created == INLET_OK ? made : nil
        withExtendedLifetime(options) {}
        guard created == INLET_OK else { throw failure(created, error, "start", context) }
        guard unsafe made != nil else { throw rejection(PluginLie("created neither an instance nor an error")) }
        var stream = unsafe inlet_stream()
        unsafe stream.size = UInt32(MemoryLayout<inlet_stream>.size)
        let limit = CallLimit(of: context)
        isOpened = true
        let opened = unsafe interface.open?(made, limit.due, &stream, &error) ?? inlet_result(INLET_ERROR_INTERNAL)
        guard opened == INLET_OK else { throw failure(opened, error, "open", context) }
        do throws(PluginLie) {
            let sets = try unsafe parameterSets(stream.parameter_sets, stream.parameter_sets_length) ?? []
            let checked = try unsafe CheckedStream(
                inlet_wire_stream(stream), parameterSets: sets, name: name)
            assembler = ItemAssembler(checked, configuration.decoding.limits)
            return checked.format
        } catch {
            throw rejection(error)
        }
    }

    private func parameterSets(
        _ bytes: UnsafePointer<UInt8>?, _ length: UInt64
    ) throws(PluginLie) -> [UInt8]? {
        guard let bytes = unsafe bytes, length > 0 else { return nil }
        guard length <= Self.mostParameterSets else { throw PluginLie("stated parameter sets of \(length) bytes") }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(length)))
    }

    func next(_ context: SourceContext) throws -> SourceItem? { try read(context) }

    private func read(_ context: SourceContext) throws(InletError) -> SourceItem? {
        guard let calls, let library else { throw InletError(.cancelled, "The source is closed.") }
        while true {
            try context.checkCancellation()
            var item = unsafe inlet_item()
            unsafe item.size = UInt32(MemoryLayout<inlet_item>.size)
            unsafe item.pts = .min
            unsafe item.capture_time = .min
            unsafe item.wall_clock = .min
            unsafe item.packet.dts = .min
            var error = inlet_error.empty
            calls.begin()
            let limit = CallLimit(of: context, slice: Self.slice)
            let result =
                unsafe interface.next?(instance, limit.due, &item, &error) ?? inlet_result(INLET_ERROR_INTERNAL)
            let isInSlot = unsafe result == INLET_OK && item.is_packet == 0 && item.picture.is_in_slot != 0
            let filled = unsafe calls.end(taking: isInSlot ? item.picture.slot : nil)
            switch Int(result) {
            case INLET_OK:
                let owner = unsafe LentMemory(item.release, item.release_data, of: library)
                defer { withExtendedLifetime(owner) {} }
                let made: SourceItem
                do throws(PluginLie) {
                    made =
                        unsafe try item.is_packet == 0
                        ? frame(item, filled, owner) : packet(item, context)
                } catch {
                    throw rejection(error)
                }
                if let refusal = assembler?.refusal { throw refusal }
                if context.interruption != nil { context.endInterruption() }
                return made
            case INLET_AGAIN: continue
            case INLET_END: return nil
            default: throw failure(result, error, "read a picture", context)
            }
        }
    }

    private func frame(
        _ item: inlet_item, _ filled: SourceCalls.Filled?, _ owner: LentMemory
    ) throws(PluginLie) -> SourceItem {
        guard var assembler, !assembler.yieldsPackets else {
            throw PluginLie("yielded a picture, but its format is of packets")
        }
        let said = unsafe item.picture
        let picture = CheckedItem.Picture(
            format: try names.format(said.pixel_format), size: try WireValues.size(said.width, said.height),
            rotation: try WireValues.rotation(said.rotation), color: try WireValues.color(said.color),
            aspectRatio: try WireValues.ratio(said.sample_aspect_ratio, "sample aspect ratio"))
        let checked = try CheckedItem(
            unsafe CheckedItem.Statement(item), after: assembler.sequence, .picture(picture))
        var planes = SourcePlanes()
        var keeper: any AnyObject & Sendable = owner
        if said.is_in_slot != 0 {
            guard let filled, filled.format == picture.format.name, filled.size == picture.size else {
                throw PluginLie("yielded a picture in a slot that get_slot did not return for such a picture")
            }
            for plane in filled.layout.planes {
                unsafe planes.append(
                    SourcePlane(
                        UnsafeRawBufferPointer(filled.memory.memory), offset: plane.offset, stride: plane.stride))
            }
            keeper = filled.memory
        } else {
            planes = try lentPlanes(said, picture)
        }
        let frame = assembler.frame(checked, picture, planes, owner: keeper)
        self.assembler = assembler
        return frame
    }

    private func lentPlanes(
        _ said: inlet_picture, _ picture: CheckedItem.Picture
    ) throws(PluginLie) -> SourcePlanes {
        let kinds = PixelPlane.byFormat[picture.format.name]
        let count = try SlotPlanes.planeCount(said.plane_count, kinds, picture)
        let places = unsafe said.planes
        var planes = SourcePlanes()
        for index in 0..<count {
            let place =
                unsafe index == 0 ? places.0 : index == 1 ? places.1 : index == 2 ? places.2 : places.3
            guard let data = unsafe place.data, let length = unsafe Int(exactly: place.length),
                let offset = unsafe Int(exactly: place.offset)
            else { throw PluginLie("lent a picture of \(picture.size) pixels without the memory of plane \(index)") }
            let plane = unsafe SourcePlane(
                UnsafeRawBufferPointer(start: data, count: length), offset: offset, stride: Int(place.stride))
            try SlotPlanes.check(plane, index, kinds, picture)
            planes.append(plane)
        }
        return planes
    }

    /// Copies a packet: libraries read a little beyond its end, where only Inlet's own memory has zeros.
    private func packet(_ item: inlet_item, _ context: SourceContext) throws(PluginLie) -> SourceItem {
        guard var assembler, assembler.yieldsPackets else {
            throw PluginLie("yielded a packet, but its format is of pictures")
        }
        let said = unsafe item.packet
        guard let bytes = unsafe said.data, unsafe (1...Self.longestPacket).contains(said.length) else {
            throw unsafe PluginLie("yielded a packet of \(said.length) bytes")
        }
        let length = unsafe Int(said.length)
        let checked = try CheckedItem(
            unsafe CheckedItem.Statement(item), after: assembler.sequence, .packet(length))
        let sets = try unsafe parameterSets(said.parameter_sets, said.parameter_sets_length)
        let data = unsafe PacketData(copying: [UnsafeRawBufferPointer(start: bytes, count: length)])
        guard let packet = assembler.packet(checked, data, parameterSets: sets, context) else {
            throw PluginLie("yielded a packet, but its format is of pictures")
        }
        self.assembler = assembler
        return packet
    }

    func pause(_ context: SourceContext) throws -> Bool {
        guard unsafe interface.pause != nil, unsafe interface.resume != nil else { return false }
        return try change("pause", context) { unsafe interface.pause?(instance, &$0) }
    }

    func resume(_ context: SourceContext) throws {
        guard try change("continue after a pause", context, { unsafe interface.resume?(instance, &$0) }) else {
            throw InletError(.unsupported, "The plug-in \(name) cannot continue after a pause.")
        }
    }

    private func change(
        _ operation: String, _ context: SourceContext, _ body: (inout inlet_error) -> inlet_result?
    ) throws(InletError) -> Bool {
        var error = inlet_error.empty
        let result = body(&error) ?? inlet_result(INLET_ERROR_UNSUPPORTED)
        switch Int(result) {
        case INLET_OK: return true
        case INLET_ERROR_UNSUPPORTED: return false
        default: throw failure(result, error, operation, context)
        }
    }

    func close() {
        if let instance = unsafe instance {
            if isOpened { unsafe interface.close?(instance) }
            unsafe interface.destroy?(instance)
        }
        unsafe instance = nil
        isOpened = false
        if let host = unsafe host { unsafe SourceCalls.free(host) }
        unsafe host = nil
        calls = nil
        // Frames may still lend memory of the library, whose code is never unloaded.
        library = nil
    }

    private func failure(
        _ result: inlet_result, _ error: inlet_error, _ operation: String, _ context: SourceContext
    ) -> InletError {
        switch PluginCall.error(result, error, of: name, operation, isCancelled: context.isCancelled) {
        case .success(let error): error
        case .failure(let lie): rejection(lie)
        }
    }

    private func rejection(_ lie: PluginLie) -> InletError { PluginCall.rejection(lie, of: name) }
}

extension CheckedItem.Statement {
    /// The statement of a plug-in in this process about an item.
    fileprivate init(_ item: inlet_item) {
        unsafe self.init(
            isPacket: item.is_packet != 0, flags: item.flags, sequence: item.sequence, pts: item.pts,
            dts: item.packet.dts, duration: item.duration, captureTime: item.capture_time, wallClock: item.wall_clock)
    }
}
