#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

// The init calls are macros over an ABI number that Swift does not import.
static inline vpx_codec_err_t cvpx_vp8_encoder_init(
    vpx_codec_ctx_t *context, const vpx_codec_enc_cfg_t *configuration, vpx_codec_flags_t flags) {
    return vpx_codec_enc_init(context, vpx_codec_vp8_cx(), configuration, flags);
}
static inline vpx_codec_err_t cvpx_vp8_decoder_init(
    vpx_codec_ctx_t *context, const vpx_codec_dec_cfg_t *configuration, vpx_codec_flags_t flags) {
    return vpx_codec_dec_init(context, vpx_codec_vp8_dx(), configuration, flags);
}
// vpx_codec_control is variadic.
static inline vpx_codec_err_t cvpx_control_int(vpx_codec_ctx_t *context, int control, int value) {
    return vpx_codec_control_(context, control, value);
}
static inline vpx_codec_err_t cvpx_control_pointer(vpx_codec_ctx_t *context, int control, void *value) {
    return vpx_codec_control_(context, control, value);
}
