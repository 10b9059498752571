import Foundation
import ReferenceTools
import Testing

/// Compares CScreenCast's declarations of libpipewire with libpipewire's own headers.
struct PortalHeaderTests {
    /// Assertions that must compile with both headers.
    private static let claims = """
        #include <stddef.h>
        #define IS(value, expected) _Static_assert((int)(value) == (expected), #value)
        #define AT(type, field, index) IS(offsetof(struct type, field), (index) * (int)sizeof(void *))
        AT(pw_stream_events, destroy, 1); AT(pw_stream_events, state_changed, 2);
        AT(pw_stream_events, control_info, 3); AT(pw_stream_events, io_changed, 4);
        AT(pw_stream_events, param_changed, 5); AT(pw_stream_events, add_buffer, 6);
        AT(pw_stream_events, remove_buffer, 7); AT(pw_stream_events, process, 8); AT(pw_stream_events, drained, 9);
        AT(pw_core_events, info, 1); AT(pw_core_events, done, 2); AT(pw_core_events, ping, 3);
        AT(pw_core_events, error, 4); AT(pw_core_events, remove_id, 5); AT(pw_core_events, bound_id, 6);
        AT(pw_core_events, add_mem, 7); AT(pw_core_events, remove_mem, 8);
        AT(pw_core_methods, add_listener, 1); AT(pw_core_methods, hello, 2); AT(pw_core_methods, sync, 3);
        AT(pw_buffer, buffer, 0); AT(pw_buffer, user_data, 1);
        IS(PW_STREAM_STATE_ERROR, -1); IS(PW_STREAM_STATE_UNCONNECTED, 0); IS(PW_STREAM_STATE_CONNECTING, 1);
        IS(PW_STREAM_STATE_PAUSED, 2); IS(PW_STREAM_STATE_STREAMING, 3); IS(PW_ID_CORE, 0);
        IS(PW_STREAM_FLAG_AUTOCONNECT, 1); IS(PW_STREAM_FLAG_DONT_RECONNECT, 128); IS(PW_DIRECTION_INPUT, 0);
        IS(sizeof PW_KEY_MEDIA_TYPE, 11); IS(sizeof PW_KEY_MEDIA_CATEGORY, 15); IS(sizeof PW_KEY_MEDIA_ROLE, 11);
        typedef struct pw_stream S;
        typedef struct pw_thread_loop L;
        typedef const struct spa_pod **Pods;
        void *const functions[] = {
            ((void (*)(int *, char **[])){pw_init}),
            ((L *(*)(const char *, const struct spa_dict *)){pw_thread_loop_new}),
            ((void (*)(L *)){pw_thread_loop_destroy}),
            ((int (*)(L *)){pw_thread_loop_start}),
            ((void (*)(L *)){pw_thread_loop_stop}),
            ((void (*)(L *)){pw_thread_loop_lock}),
            ((void (*)(L *)){pw_thread_loop_unlock}),
            ((struct pw_loop *(*)(L *)){pw_thread_loop_get_loop}),
            ((struct pw_context *(*)(struct pw_loop *, struct pw_properties *, size_t)){pw_context_new}),
            ((void (*)(struct pw_context *)){pw_context_destroy}),
            ((struct pw_core *(*)(struct pw_context *, int, struct pw_properties *, size_t)){
                pw_context_connect_fd}),
            ((int (*)(struct pw_core *)){pw_core_disconnect}),
            ((struct pw_properties *(*)(const char *, ...)){pw_properties_new}),
            ((S *(*)(struct pw_core *, const char *, struct pw_properties *)){pw_stream_new}),
            ((void (*)(S *)){pw_stream_destroy}),
            ((void (*)(S *, struct spa_hook *, const struct pw_stream_events *, void *)){pw_stream_add_listener}),
            ((int (*)(S *, enum pw_direction, uint32_t, enum pw_stream_flags, Pods, uint32_t)){pw_stream_connect}),
            ((int (*)(S *, Pods, uint32_t)){pw_stream_update_params}),
            ((int (*)(S *, bool)){pw_stream_set_active}),
            ((struct pw_buffer *(*)(S *)){pw_stream_dequeue_buffer}),
            ((int (*)(S *, struct pw_buffer *)){pw_stream_queue_buffer}),
        };
        """

    @Test("The declarations of libpipewire match its headers", arguments: [true, false])
    func declarations(areOwn: Bool) throws {
        let folder = try TemporaryFolder()
        let own = BuiltProgram.package.appendingPathComponent("Sources/C/CScreenCast/pipewire.h").path
        let path = folder.path("claims.c")
        try "#include \(areOwn ? "\"\(own)\"" : "<pipewire/pipewire.h>")\n\(Self.claims)\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        let flags = try ReferenceCommand.run(
            "pkg-config", ["--cflags", areOwn ? "libspa-0.2" : "libpipewire-0.3"])
        let words = String(decoding: flags, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        // Throws the compiler's output if the assertions fail.
        _ = try ReferenceCommand.run("cc", ["-std=gnu11", "-fsyntax-only", "-Werror"] + words + [path])
    }
}
