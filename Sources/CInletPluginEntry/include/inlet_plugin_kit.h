/* What the entry of a plug-in in Swift calls. InletPluginKit implements all of it but inlet_plugin_main. */
#ifndef INLET_PLUGIN_KIT_H
#define INLET_PLUGIN_KIT_H

#include <inlet_plugin.h>

/* Written by the plug-in's author: calls PluginKit.export. Called once, before anything else of the plug-in. */
void inlet_plugin_main(void);

/* The functions of inlet_plugin and of inlet_source_interface, with the tags and promises of these. */
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

#endif
