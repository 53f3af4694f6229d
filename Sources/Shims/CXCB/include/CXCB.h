// XCB as tables of functions that are filled from the shared libraries at first use, so that programs which take no
// pictures of a screen run where X is not installed.
#ifndef CXCB_H
#define CXCB_H

// The types of <sys/time.h> shall stay those of the C library's own module, or Swift takes them for ours.
#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

#include <sys/ipc.h>
#include <sys/shm.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>

#define CXCB_FUNCTIONS(FUNCTION) \
    FUNCTION(xcb_change_window_attributes) \
    FUNCTION(xcb_connect) \
    FUNCTION(xcb_connection_has_error) \
    FUNCTION(xcb_depth_next) \
    FUNCTION(xcb_depth_visuals_iterator) \
    FUNCTION(xcb_disconnect) \
    FUNCTION(xcb_flush) \
    FUNCTION(xcb_generate_id) \
    FUNCTION(xcb_get_extension_data) \
    FUNCTION(xcb_get_geometry) \
    FUNCTION(xcb_get_geometry_reply) \
    FUNCTION(xcb_get_image) \
    FUNCTION(xcb_get_image_data) \
    FUNCTION(xcb_get_image_data_length) \
    FUNCTION(xcb_get_image_reply) \
    FUNCTION(xcb_get_setup) \
    FUNCTION(xcb_poll_for_event) \
    FUNCTION(xcb_request_check) \
    FUNCTION(xcb_screen_allowed_depths_iterator) \
    FUNCTION(xcb_screen_next) \
    FUNCTION(xcb_setup_pixmap_formats) \
    FUNCTION(xcb_setup_pixmap_formats_length) \
    FUNCTION(xcb_setup_roots_iterator) \
    FUNCTION(xcb_visualtype_next)

/// Pictures in memory that client and server share.
#define CXCB_SHM_FUNCTIONS(FUNCTION) \
    FUNCTION(xcb_shm_attach_checked) \
    FUNCTION(xcb_shm_detach) \
    FUNCTION(xcb_shm_get_image) \
    FUNCTION(xcb_shm_get_image_reply)

/// The pointer's picture.
#define CXCB_FIXES_FUNCTIONS(FUNCTION) \
    FUNCTION(xcb_xfixes_get_cursor_image) \
    FUNCTION(xcb_xfixes_get_cursor_image_cursor_image) \
    FUNCTION(xcb_xfixes_get_cursor_image_reply) \
    FUNCTION(xcb_xfixes_query_version) \
    FUNCTION(xcb_xfixes_query_version_reply)

#define CXCB_MEMBER(name) __typeof__(&name) name;
struct cxcb_functions {
    CXCB_FUNCTIONS(CXCB_MEMBER)
};
struct cxcb_shm_functions {
    CXCB_SHM_FUNCTIONS(CXCB_MEMBER)
    xcb_extension_t *extension;
};
struct cxcb_fixes_functions {
    CXCB_FIXES_FUNCTIONS(CXCB_MEMBER)
    xcb_extension_t *extension;
};
#undef CXCB_MEMBER

/// Loads a library and finds every function. Each returns null where anything is missing; to be called once each.
const struct cxcb_functions *cxcb_load(void);
const struct cxcb_shm_functions *cxcb_load_shm(void);
const struct cxcb_fixes_functions *cxcb_load_fixes(void);

#endif
