// SDL 2 as a table of functions that is filled from the shared library at first use, so that programs which show no window
// run where SDL is not installed.
#ifndef CSDL_H
#define CSDL_H

// The types of <sys/time.h> shall stay those of the C library's own module, or Swift takes them for ours.
#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

#include <SDL2/SDL.h>

#define CSDL_FUNCTIONS(FUNCTION) \
    FUNCTION(SDL_CreateRenderer) \
    FUNCTION(SDL_CreateTexture) \
    FUNCTION(SDL_CreateWindow) \
    FUNCTION(SDL_DestroyRenderer) \
    FUNCTION(SDL_DestroyTexture) \
    FUNCTION(SDL_DestroyWindow) \
    FUNCTION(SDL_GetCurrentVideoDriver) \
    FUNCTION(SDL_GetError) \
    FUNCTION(SDL_GetRendererOutputSize) \
    FUNCTION(SDL_GetWindowFlags) \
    FUNCTION(SDL_GetWindowID) \
    FUNCTION(SDL_InitSubSystem) \
    FUNCTION(SDL_PollEvent) \
    FUNCTION(SDL_PushEvent) \
    FUNCTION(SDL_QuitSubSystem) \
    FUNCTION(SDL_RegisterEvents) \
    FUNCTION(SDL_RenderClear) \
    FUNCTION(SDL_RenderCopy) \
    FUNCTION(SDL_RenderFillRect) \
    FUNCTION(SDL_RenderPresent) \
    FUNCTION(SDL_SetHint) \
    FUNCTION(SDL_SetRenderDrawBlendMode) \
    FUNCTION(SDL_SetRenderDrawColor) \
    FUNCTION(SDL_SetWindowFullscreen) \
    FUNCTION(SDL_SetWindowMinimumSize) \
    FUNCTION(SDL_SetWindowSize) \
    FUNCTION(SDL_SetWindowTitle) \
    FUNCTION(SDL_SetYUVConversionMode) \
    FUNCTION(SDL_StartTextInput) \
    FUNCTION(SDL_UpdateYUVTexture) \
    FUNCTION(SDL_WaitEventTimeout)

struct csdl_functions {
#define CSDL_MEMBER(name) __typeof__(&name) name;
    CSDL_FUNCTIONS(CSDL_MEMBER)
#undef CSDL_MEMBER
};

/// Loads the library and finds every function. Returns null, and what was missing, or the library's functions.
const struct csdl_functions *csdl_load(const char **missing);

// Macros of casts, which Swift does not import.
static const int csdl_window_position_any = SDL_WINDOWPOS_UNDEFINED;

/// The text of a text event, which ends with a zero.
static inline const char *csdl_text(const SDL_Event *event) { return event->text.text; }

#endif
