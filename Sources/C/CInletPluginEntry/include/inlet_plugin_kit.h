/* The functions that the entry of a plug-in in Swift calls. InletPluginSDK implements all except inlet_plugin_main. */
#ifndef INLET_PLUGIN_KIT_H
#define INLET_PLUGIN_KIT_H

#include <inlet_plugin.h>

/* Implemented by the author of the plug-in with calls of PluginKit.export. Called once, before any other function. */
void inlet_plugin_main(void);

/* Not 0 if the author has exported sources or sinks, respectively. Valid after init. */
int32_t inlet_kit_has_sources(void);
int32_t inlet_kit_has_sinks(void);

/* The functions of inlet_plugin and inlet_source_interface, with the same tags and guarantees. */
inlet_result inlet_kit_init(const inlet_host *host, inlet_error *error);
void inlet_kit_deinit(void);
inlet_result inlet_kit_create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error);
inlet_result inlet_kit_open(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error);
inlet_result inlet_kit_next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error);
inlet_result inlet_kit_pause(inlet_source *source, inlet_error *error);
inlet_result inlet_kit_resume(inlet_source *source, inlet_error *error);
void inlet_kit_close(inlet_source *source);
void inlet_kit_destroy(inlet_source *source);

/* The functions of inlet_sink_interface. */
inlet_result inlet_kit_sink_create(
    const inlet_configuration *configuration, const inlet_sink_host *host, inlet_sink **sink, inlet_sink_wants *wants,
    inlet_error *error);
inlet_result inlet_kit_sink_start(
    inlet_sink *sink, int64_t deadline, const inlet_stream *stream, inlet_error *error);
inlet_result inlet_kit_sink_consume(inlet_sink *sink, int64_t deadline, const inlet_item *item, inlet_error *error);
inlet_result inlet_kit_sink_finish(inlet_sink *sink, int64_t deadline, inlet_error *error);
void inlet_kit_sink_destroy(inlet_sink *sink);

#endif
