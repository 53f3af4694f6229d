// One endpoint of a call as bare as C can write it: the same codecs with the same settings, the same cipher, the same
// socket calls, and nothing else.
#ifndef CBAREENDPOINT_H
#define CBAREENDPOINT_H

#include <stdint.h>

typedef struct {
    const uint8_t *planes[3];
    int strides[3];
} bare_picture;

typedef struct {
    int frames_encoded;
    int frames_decoded;
    int bytes_sent;
    int packets;
} bare_result;

// Sends the pictures in turn at 30 a second for so many seconds to itself over loopback, with 20 ms of Opus beside, and
// decodes what arrives. Returns 0, or a number that says which step failed.
int bare_endpoint_run(
    const bare_picture *pictures, int count, int width, int height, int bits_per_second, int seconds, bare_result *result);

// Processor seconds that this process has used so far.
double bare_processor_seconds(void);

#endif
