/*
 * The layout that plug-ins were compiled for, on every 64-bit machine. It must never change. A field that is added at
 * the end of a struct gets a line here, and the size of the struct is updated.
 */
#include <stddef.h>

#include "inlet_plugin_protocol.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "the size of " #type)
#define AT(type, field, bytes) _Static_assert(offsetof(type, field) == (bytes), #type "." #field)

SIZE(inlet_error, 512);
AT(inlet_error, size, 0);
AT(inlet_error, native_code, 4);
AT(inlet_error, retry_after, 8);
AT(inlet_error, message, 16);

SIZE(inlet_host, 48);
AT(inlet_host, size, 0);
AT(inlet_host, major, 4);
AT(inlet_host, minor, 6);
AT(inlet_host, name, 8);
AT(inlet_host, version, 16);
AT(inlet_host, log, 24);
AT(inlet_host, now, 32);
AT(inlet_host, get_extension, 40);

SIZE(inlet_plugin, 40);
AT(inlet_plugin, size, 0);
AT(inlet_plugin, magic, 4);
AT(inlet_plugin, major, 8);
AT(inlet_plugin, minor_needed, 10);
AT(inlet_plugin, reserved, 12);
AT(inlet_plugin, init, 16);
AT(inlet_plugin, deinit, 24);
AT(inlet_plugin, get_interface, 32);

SIZE(inlet_option, 16);
AT(inlet_option, name, 0);
AT(inlet_option, value, 8);

SIZE(inlet_configuration, 32);
AT(inlet_configuration, size, 0);
AT(inlet_configuration, option_count, 4);
AT(inlet_configuration, scheme, 8);
AT(inlet_configuration, address, 16);
AT(inlet_configuration, options, 24);

SIZE(inlet_rational, 8);
AT(inlet_rational, numerator, 0);
AT(inlet_rational, denominator, 4);

SIZE(inlet_color, 4);
AT(inlet_color, primaries, 0);
AT(inlet_color, transfer, 1);
AT(inlet_color, matrix, 2);
AT(inlet_color, range, 3);

SIZE(inlet_stream, 128);
AT(inlet_stream, size, 0);
AT(inlet_stream, pacing, 4);
AT(inlet_stream, width, 8);
AT(inlet_stream, height, 12);
AT(inlet_stream, pixel_format, 16);
AT(inlet_stream, codec, 40);
AT(inlet_stream, time_base, 64);
AT(inlet_stream, frame_rate, 72);
AT(inlet_stream, sample_aspect_ratio, 80);
AT(inlet_stream, color, 88);
AT(inlet_stream, rotation, 92);
AT(inlet_stream, timestamp_bits, 96);
AT(inlet_stream, reorder_depth, 100);
AT(inlet_stream, parameter_sets, 104);
AT(inlet_stream, parameter_sets_length, 112);
AT(inlet_stream, duration, 120);

SIZE(inlet_plane, 32);
AT(inlet_plane, data, 0);
AT(inlet_plane, length, 8);
AT(inlet_plane, offset, 16);
AT(inlet_plane, stride, 24);

SIZE(inlet_slot, 144);
AT(inlet_slot, size, 0);
AT(inlet_slot, id, 4);
AT(inlet_slot, plane_count, 8);
AT(inlet_slot, reserved, 12);
AT(inlet_slot, planes, 16);

SIZE(inlet_picture, 192);
AT(inlet_picture, width, 0);
AT(inlet_picture, height, 4);
AT(inlet_picture, pixel_format, 8);
AT(inlet_picture, sample_aspect_ratio, 32);
AT(inlet_picture, color, 40);
AT(inlet_picture, rotation, 44);
AT(inlet_picture, is_in_slot, 48);
AT(inlet_picture, slot, 52);
AT(inlet_picture, plane_count, 56);
AT(inlet_picture, reserved, 60);
AT(inlet_picture, planes, 64);

SIZE(inlet_packet, 40);
AT(inlet_packet, data, 0);
AT(inlet_packet, length, 8);
AT(inlet_packet, dts, 16);
AT(inlet_packet, parameter_sets, 24);
AT(inlet_packet, parameter_sets_length, 32);

SIZE(inlet_item, 304);
AT(inlet_item, size, 0);
AT(inlet_item, is_packet, 4);
AT(inlet_item, flags, 8);
AT(inlet_item, reserved, 12);
AT(inlet_item, sequence, 16);
AT(inlet_item, pts, 24);
AT(inlet_item, duration, 32);
AT(inlet_item, capture_time, 40);
AT(inlet_item, wall_clock, 48);
AT(inlet_item, picture, 56);
AT(inlet_item, packet, 248);
AT(inlet_item, release, 288);
AT(inlet_item, release_data, 296);

SIZE(inlet_demand, 32);
AT(inlet_demand, size, 0);
AT(inlet_demand, wants_pictures, 4);
AT(inlet_demand, wants_packets, 8);
AT(inlet_demand, key_frame_requests, 12);
AT(inlet_demand, frame_rate, 16);
AT(inlet_demand, width, 24);
AT(inlet_demand, height, 28);

SIZE(inlet_source_host, 72);
AT(inlet_source_host, size, 0);
AT(inlet_source_host, wake_fd, 4);
AT(inlet_source_host, context, 8);
AT(inlet_source_host, is_cancelled, 16);
AT(inlet_source_host, report_progress, 24);
AT(inlet_source_host, count_drop, 32);
AT(inlet_source_host, begin_interruption, 40);
AT(inlet_source_host, end_interruption, 48);
AT(inlet_source_host, get_demand, 56);
AT(inlet_source_host, get_slot, 64);

SIZE(inlet_source_interface, 64);
AT(inlet_source_interface, size, 0);
AT(inlet_source_interface, reserved, 4);
AT(inlet_source_interface, create, 8);
AT(inlet_source_interface, open, 16);
AT(inlet_source_interface, next, 24);
AT(inlet_source_interface, pause, 32);
AT(inlet_source_interface, resume, 40);
AT(inlet_source_interface, close, 48);
AT(inlet_source_interface, destroy, 56);

SIZE(inlet_sink_host, 32);
AT(inlet_sink_host, size, 0);
AT(inlet_sink_host, wake_fd, 4);
AT(inlet_sink_host, context, 8);
AT(inlet_sink_host, is_cancelled, 16);
AT(inlet_sink_host, request_key_frame, 24);

SIZE(inlet_sink_wants, 32);
AT(inlet_sink_wants, size, 0);
AT(inlet_sink_wants, packets, 4);
AT(inlet_sink_wants, width, 8);
AT(inlet_sink_wants, height, 12);
AT(inlet_sink_wants, frame_rate, 16);
AT(inlet_sink_wants, keeps_rotation, 24);
AT(inlet_sink_wants, reserved, 28);

SIZE(inlet_sink_interface, 48);
AT(inlet_sink_interface, size, 0);
AT(inlet_sink_interface, reserved, 4);
AT(inlet_sink_interface, create, 8);
AT(inlet_sink_interface, start, 16);
AT(inlet_sink_interface, consume, 24);
AT(inlet_sink_interface, finish, 32);
AT(inlet_sink_interface, destroy, 40);

SIZE(inlet_thread_check, 24);
AT(inlet_thread_check, size, 0);
AT(inlet_thread_check, reserved, 4);
AT(inlet_thread_check, is_control, 8);
AT(inlet_thread_check, is_capture, 16);

SIZE(inlet_message, 16);
AT(inlet_message, type, 0);
AT(inlet_message, reserved, 4);
AT(inlet_message, deadline, 8);

SIZE(inlet_create, 16);
AT(inlet_create, type, 0);
AT(inlet_create, kind, 4);
AT(inlet_create, major, 8);
AT(inlet_create, minor, 10);
AT(inlet_create, option_count, 12);

SIZE(inlet_next, 56);
AT(inlet_next, type, 0);
AT(inlet_next, reserved, 4);
AT(inlet_next, deadline, 8);
AT(inlet_next, free_slots, 16);
AT(inlet_next, demand, 24);

SIZE(inlet_segment, 24);
AT(inlet_segment, type, 0);
AT(inlet_segment, number, 4);
AT(inlet_segment, slot_length, 8);
AT(inlet_segment, slot_count, 16);
AT(inlet_segment, reserved, 20);

SIZE(inlet_wire_plane, 16);
AT(inlet_wire_plane, offset, 0);
AT(inlet_wire_plane, stride, 8);

SIZE(inlet_wire_item, 208);
AT(inlet_wire_item, type, 0);
AT(inlet_wire_item, is_packet, 4);
AT(inlet_wire_item, flags, 8);
AT(inlet_wire_item, segment, 12);
AT(inlet_wire_item, slot, 16);
AT(inlet_wire_item, width, 20);
AT(inlet_wire_item, height, 24);
AT(inlet_wire_item, rotation, 28);
AT(inlet_wire_item, sequence, 32);
AT(inlet_wire_item, pts, 40);
AT(inlet_wire_item, dts, 48);
AT(inlet_wire_item, duration, 56);
AT(inlet_wire_item, capture_time, 64);
AT(inlet_wire_item, wall_clock, 72);
AT(inlet_wire_item, length, 80);
AT(inlet_wire_item, pixel_format, 88);
AT(inlet_wire_item, sample_aspect_ratio, 112);
AT(inlet_wire_item, color, 120);
AT(inlet_wire_item, plane_count, 124);
AT(inlet_wire_item, planes, 128);
AT(inlet_wire_item, parameter_sets_length, 192);
AT(inlet_wire_item, reserved, 196);
AT(inlet_wire_item, deadline, 200);

SIZE(inlet_wire_stream, 128);
AT(inlet_wire_stream, type, 0);
AT(inlet_wire_stream, pacing, 4);
AT(inlet_wire_stream, width, 8);
AT(inlet_wire_stream, height, 12);
AT(inlet_wire_stream, pixel_format, 16);
AT(inlet_wire_stream, codec, 40);
AT(inlet_wire_stream, time_base, 64);
AT(inlet_wire_stream, frame_rate, 72);
AT(inlet_wire_stream, sample_aspect_ratio, 80);
AT(inlet_wire_stream, color, 88);
AT(inlet_wire_stream, rotation, 92);
AT(inlet_wire_stream, timestamp_bits, 96);
AT(inlet_wire_stream, reorder_depth, 100);
AT(inlet_wire_stream, duration, 104);
AT(inlet_wire_stream, parameter_sets_length, 112);
AT(inlet_wire_stream, can_pause, 116);
AT(inlet_wire_stream, deadline, 120);

SIZE(inlet_wire_result, 552);
AT(inlet_wire_result, type, 0);
AT(inlet_wire_result, result, 4);
AT(inlet_wire_result, native_code, 8);
AT(inlet_wire_result, reserved, 12);
AT(inlet_wire_result, retry_after, 16);
AT(inlet_wire_result, message, 24);
AT(inlet_wire_result, wants, 520);

SIZE(inlet_need_segment, 16);
AT(inlet_need_segment, type, 0);
AT(inlet_need_segment, reserved, 4);
AT(inlet_need_segment, slot_length, 8);

SIZE(inlet_note, 512);
AT(inlet_note, type, 0);
AT(inlet_note, level, 4);
AT(inlet_note, count, 8);
AT(inlet_note, text, 16);
