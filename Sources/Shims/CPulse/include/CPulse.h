// libpulse, reached through a table of its functions that is filled when the library is first needed: a program that
// plays no sound runs without it.
#ifndef CPULSE_H
#define CPULSE_H

// The types of <sys/time.h> shall stay those of the C library's own module, or Swift takes them for ours.
#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

#include <pulse/pulseaudio.h>

#define CPULSE_FUNCTIONS(FUNCTION) \
    FUNCTION(pa_strerror) \
    FUNCTION(pa_mainloop_new) \
    FUNCTION(pa_mainloop_free) \
    FUNCTION(pa_mainloop_get_api) \
    FUNCTION(pa_mainloop_prepare) \
    FUNCTION(pa_mainloop_poll) \
    FUNCTION(pa_mainloop_dispatch) \
    FUNCTION(pa_mainloop_wakeup) \
    FUNCTION(pa_proplist_new) \
    FUNCTION(pa_proplist_free) \
    FUNCTION(pa_proplist_sets) \
    FUNCTION(pa_proplist_gets) \
    FUNCTION(pa_context_new_with_proplist) \
    FUNCTION(pa_context_connect) \
    FUNCTION(pa_context_disconnect) \
    FUNCTION(pa_context_unref) \
    FUNCTION(pa_context_errno) \
    FUNCTION(pa_context_get_state) \
    FUNCTION(pa_context_set_state_callback) \
    FUNCTION(pa_context_set_subscribe_callback) \
    FUNCTION(pa_context_subscribe) \
    FUNCTION(pa_context_get_server_info) \
    FUNCTION(pa_context_get_sink_info_list) \
    FUNCTION(pa_context_get_source_info_list) \
    FUNCTION(pa_context_set_sink_mute_by_name) \
    FUNCTION(pa_context_set_source_mute_by_name) \
    FUNCTION(pa_operation_unref) \
    FUNCTION(pa_stream_new_with_proplist) \
    FUNCTION(pa_stream_unref) \
    FUNCTION(pa_stream_connect_playback) \
    FUNCTION(pa_stream_connect_record) \
    FUNCTION(pa_stream_disconnect) \
    FUNCTION(pa_stream_get_state) \
    FUNCTION(pa_stream_get_device_name) \
    FUNCTION(pa_stream_get_timing_info) \
    FUNCTION(pa_stream_update_timing_info) \
    FUNCTION(pa_stream_get_buffer_attr) \
    FUNCTION(pa_stream_set_state_callback) \
    FUNCTION(pa_stream_set_read_callback) \
    FUNCTION(pa_stream_set_write_callback) \
    FUNCTION(pa_stream_set_moved_callback) \
    FUNCTION(pa_stream_readable_size) \
    FUNCTION(pa_stream_peek) \
    FUNCTION(pa_stream_drop) \
    FUNCTION(pa_stream_write)

/// The functions of libpulse that are used, each under its own name.
struct cpulse_functions {
#define CPULSE_MEMBER(NAME) __typeof__(&NAME) NAME;
    CPULSE_FUNCTIONS(CPULSE_MEMBER)
#undef CPULSE_MEMBER
};

/// How loading went.
enum cpulse_result {
    CPULSE_LOADED,
    /// There is no libpulse.so.0 on this machine.
    CPULSE_NOT_INSTALLED,
    /// There is one, but it lacks a function.
    CPULSE_TOO_OLD,
};

/// Loads libpulse, which is never unloaded, and fills the table.
enum cpulse_result cpulse_load(struct cpulse_functions *functions);

#endif
