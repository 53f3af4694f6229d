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
// The packet's payload is in an anonymous union.
static inline const void *cvpx_frame_bytes(const vpx_codec_cx_pkt_t *packet) { return packet->data.frame.buf; }
static inline size_t cvpx_frame_byte_count(const vpx_codec_cx_pkt_t *packet) { return packet->data.frame.sz; }
static inline int cvpx_frame_is_key(const vpx_codec_cx_pkt_t *packet) {
    return (packet->data.frame.flags & VPX_FRAME_IS_KEY) != 0;
}
