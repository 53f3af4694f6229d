#define _GNU_SOURCE
#include "CBareEndpoint.h"

#include <arpa/inet.h>
#include <math.h>
#include <opus/opus.h>
#include <srtp2/srtp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

enum { payload_limit = 1160, datagram_limit = 2048, frame_limit = 1 << 20 };

double bare_processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

typedef struct {
    int socket;
    struct sockaddr_in address;
    srtp_t outbound, inbound;
} channel;

static int open_channel(channel *c) {
    c->socket = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (c->socket < 0) return -1;
    int size = 1 << 20;
    setsockopt(c->socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(c->socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    memset(&c->address, 0, sizeof c->address);
    c->address.sin_family = AF_INET;
    c->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(c->socket, (struct sockaddr *)&c->address, sizeof c->address) < 0) return -1;
    socklen_t length = sizeof c->address;
    getsockname(c->socket, (struct sockaddr *)&c->address, &length);
    static unsigned char key[28] = {1, 2, 3, 4, 5, 6, 7, 8};
    srtp_policy_t policy;
    memset(&policy, 0, sizeof policy);
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
    policy.key = key;
    policy.window_size = 1024;
    policy.ssrc.type = ssrc_any_outbound;
    if (srtp_create(&c->outbound, &policy) != srtp_err_status_ok) return -1;
    policy.ssrc.type = ssrc_any_inbound;
    return srtp_create(&c->inbound, &policy) == srtp_err_status_ok ? 0 : -1;
}

static void close_channel(channel *c) {
    srtp_dealloc(c->outbound);
    srtp_dealloc(c->inbound);
    close(c->socket);
}

static void write_header(uint8_t *packet, int marker, int type, uint16_t sequence, uint32_t timestamp, uint32_t ssrc) {
    packet[0] = 0x80;
    packet[1] = (uint8_t)(marker << 7 | type);
    packet[2] = sequence >> 8;
    packet[3] = (uint8_t)sequence;
    uint32_t words[2] = {htonl(timestamp), htonl(ssrc)};
    memcpy(packet + 4, words, 8);
}

static int send_packet(channel *c, uint8_t *packet, int length) {
    if (srtp_protect(c->outbound, packet, &length) != srtp_err_status_ok) return -1;
    return (int)sendto(c->socket, packet, (size_t)length, 0, (struct sockaddr *)&c->address, sizeof c->address);
}

int bare_endpoint_run(
    const bare_picture *pictures, int count, int width, int height, int bits_per_second, int seconds, bare_result *result) {
    memset(result, 0, sizeof *result);
    srtp_init();
    channel video, audio;
    if (open_channel(&video) < 0 || open_channel(&audio) < 0) return 1;

    vpx_codec_enc_cfg_t settings;
    vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &settings, 0);
    settings.g_w = (unsigned)width;
    settings.g_h = (unsigned)height;
    settings.g_timebase.num = 1;
    settings.g_timebase.den = 90000;
    settings.g_threads = sysconf(_SC_NPROCESSORS_ONLN) >= 3 ? 2 : 1;
    settings.g_error_resilient = VPX_ERROR_RESILIENT_DEFAULT;
    settings.g_lag_in_frames = 0;
    settings.rc_end_usage = VPX_CBR;
    settings.rc_resize_allowed = 0;
    settings.rc_undershoot_pct = 100;
    settings.rc_overshoot_pct = 15;
    settings.rc_buf_initial_sz = 500;
    settings.rc_buf_optimal_sz = 600;
    settings.rc_buf_sz = 1000;
    settings.rc_target_bitrate = (unsigned)bits_per_second / 1000;
    settings.rc_min_quantizer = 2;
    settings.rc_max_quantizer = 56;
    settings.rc_dropframe_thresh = 30;
    settings.kf_max_dist = 3000;
    vpx_codec_ctx_t encoder, decoder;
    if (vpx_codec_enc_init(&encoder, vpx_codec_vp8_cx(), &settings, 0)) return 2;
    vpx_codec_control(&encoder, VP8E_SET_CPUUSED, -8);
    vpx_codec_control(&encoder, VP8E_SET_STATIC_THRESHOLD, 1);
    vpx_codec_control(&encoder, VP8E_SET_NOISE_SENSITIVITY, 0);
    vpx_codec_control(&encoder, VP8E_SET_TOKEN_PARTITIONS, 0);
    vpx_codec_control(&encoder, VP8E_SET_MAX_INTRA_BITRATE_PCT, 900);
    vpx_codec_dec_cfg_t decoding = {1, 0, 0};
    if (vpx_codec_dec_init(&decoder, vpx_codec_vp8_dx(), &decoding, 0)) return 3;
    int status;
    OpusEncoder *voice = opus_encoder_create(48000, 1, OPUS_APPLICATION_VOIP, &status);
    OpusDecoder *ear = opus_decoder_create(48000, 1, &status);
    if (!voice || !ear) return 4;
    opus_encoder_ctl(voice, OPUS_SET_BITRATE(32000));
    opus_encoder_ctl(voice, OPUS_SET_COMPLEXITY(5));
    opus_encoder_ctl(voice, OPUS_SET_INBAND_FEC(1));
    opus_encoder_ctl(voice, OPUS_SET_PACKET_LOSS_PERC(10));

    int16_t samples[960], heard[5760];
    double phase = 0;
    uint8_t packet[datagram_limit];
    uint8_t *frame = malloc(frame_limit);
    size_t frame_length = 0;
    uint16_t video_sequence = 0, audio_sequence = 0;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    // Ticks of 10 ms: sound every second one, a picture whenever a thirtieth of a second has passed.
    int sent_pictures = 0;
    for (int tick = 0; tick < seconds * 100; tick++) {
        if (tick % 2 == 0) {
            for (int i = 0; i < 960; i++) {
                samples[i] = (int16_t)(8000 * sin(phase));
                phase += 2 * M_PI * 440 / 48000;
            }
            int length = opus_encode(voice, samples, 960, packet + 12, payload_limit);
            write_header(packet, 0, 96, audio_sequence, (uint32_t)audio_sequence * 960, 1);
            audio_sequence++;
            if (length > 0) send_packet(&audio, packet, length + 12);
        }
        if (tick * 30 / 100 >= sent_pictures) {
            const bare_picture *picture = &pictures[sent_pictures % count];
            vpx_image_t image;
            vpx_img_wrap(&image, VPX_IMG_FMT_I420, (unsigned)width, (unsigned)height, 1, (unsigned char *)picture->planes[0]);
            for (int plane = 0; plane < 3; plane++) {
                image.planes[plane] = (unsigned char *)picture->planes[plane];
                image.stride[plane] = picture->strides[plane];
            }
            vpx_codec_encode(&encoder, &image, (vpx_codec_pts_t)sent_pictures * 3000, 3000, 0, VPX_DL_REALTIME);
            vpx_codec_iter_t iterator = NULL;
            const vpx_codec_cx_pkt_t *coded;
            while ((coded = vpx_codec_get_cx_data(&encoder, &iterator))) {
                if (coded->kind != VPX_CODEC_CX_FRAME_PKT) continue;
                const uint8_t *bytes = coded->data.frame.buf;
                size_t left = coded->data.frame.sz;
                result->frames_encoded++;
                result->bytes_sent += (int)left;
                int first = 1;
                while (left > 0) {
                    size_t piece = left < payload_limit - 4 ? left : payload_limit - 4;
                    write_header(packet, piece == left, 97, video_sequence, (uint32_t)sent_pictures * 3000, 2);
                    packet[12] = (uint8_t)(0x80 | (first ? 0x10 : 0));
                    packet[13] = 0x80;
                    packet[14] = (uint8_t)(0x80 | (sent_pictures >> 8 & 0x7F));
                    packet[15] = (uint8_t)sent_pictures;
                    memcpy(packet + 16, bytes, piece);
                    send_packet(&video, packet, (int)piece + 16);
                    video_sequence++;
                    result->packets++;
                    bytes += piece;
                    left -= piece;
                    first = 0;
                }
            }
            sent_pictures++;
        }
        ssize_t length;
        while ((length = recv(audio.socket, packet, sizeof packet, 0)) > 0) {
            int size = (int)length;
            if (srtp_unprotect(audio.inbound, packet, &size) == srtp_err_status_ok) {
                opus_decode(ear, packet + 12, size - 12, heard, 5760, 0);
            }
        }
        while ((length = recv(video.socket, packet, sizeof packet, 0)) > 0) {
            int size = (int)length;
            if (srtp_unprotect(video.inbound, packet, &size) != srtp_err_status_ok) continue;
            if (frame_length + (size_t)size > frame_limit) frame_length = 0;
            memcpy(frame + frame_length, packet + 16, (size_t)size - 16);
            frame_length += (size_t)size - 16;
            if (!(packet[1] & 0x80)) continue;
            if (vpx_codec_decode(&decoder, frame, (unsigned)frame_length, NULL, 0) == VPX_CODEC_OK) {
                vpx_codec_iter_t iterator = NULL;
                if (vpx_codec_get_frame(&decoder, &iterator)) result->frames_decoded++;
            }
            frame_length = 0;
        }
        next.tv_nsec += 10000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    free(frame);
    opus_encoder_destroy(voice);
    opus_decoder_destroy(ear);
    vpx_codec_destroy(&encoder);
    vpx_codec_destroy(&decoder);
    close_channel(&video);
    close_channel(&audio);
    return 0;
}
