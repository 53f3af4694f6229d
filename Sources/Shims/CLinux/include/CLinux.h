// Linux calls that Swift's Glibc module lacks. No _GNU_SOURCE here: it would clash with that module.
#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

/// An IPv4 (`version` 4) or IPv6 (6) address and port; 0 is none. IPv4 is in the first four bytes.
struct clinux_endpoint {
    uint8_t version;
    uint8_t bytes[16];
    uint16_t port;
    uint32_t scope;
};

/// Room for one datagram to receive, or one datagram to send.
struct clinux_datagram {
    void *base;
    size_t count;                   // in: room or length; out of a receive: length
    struct clinux_endpoint remote;
    struct clinux_endpoint local;   // receive: which address it came to; send: which to leave from
    int truncated;
};

/// An ICMP or local error of a datagram sent earlier.
struct clinux_datagram_error {
    int code;
    struct clinux_endpoint destination;
};

/// All return -1 and set errno, as the calls below them do.
int clinux_name_thread(const char *name);
int clinux_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds);

/// A non-blocking socket that closes on exec.
int clinux_socket(int version, int is_stream, int dual_stack);
int clinux_bind(int fd, int version, const struct clinux_endpoint *endpoint);
int clinux_connect(int fd, int version, const struct clinux_endpoint *endpoint);
int clinux_accept(int fd, struct clinux_endpoint *remote);
int clinux_local(int fd, struct clinux_endpoint *endpoint);
int clinux_pending_error(int fd);
int clinux_listen(int fd);
/// Sends on a stream without raising SIGPIPE.
long clinux_stream_send(int fd, const void *bytes, size_t count);
int clinux_finish(int fd);

int clinux_set_datagram_options(int fd, int version, int packet_info, int code_point);
int clinux_set_stream_options(int fd, int keep_alive);
int clinux_set_reuse_address(int fd);
int clinux_set_buffer_sizes(int fd, int receive, int send);

int clinux_receive(int fd, struct clinux_datagram *datagrams, unsigned count);
int clinux_send(int fd, int version, const struct clinux_datagram *datagrams, unsigned count);
/// Sends up to 64 datagrams to the first one's `remote` in one go, cut by the kernel every `segment` bytes: all have that
/// length but the last, which may be shorter.
int clinux_send_segmented(int fd, int version, const struct clinux_datagram *datagrams, unsigned count, uint16_t segment);
int clinux_receive_error(int fd, struct clinux_datagram_error *error);

/// A netlink socket that is readable when an address of this machine comes or goes.
int clinux_address_monitor(void);

/// Reads and drops what the monitor holds; gives the bytes read.
long clinux_drain(int fd);

struct clinux_interface {
    char name[16];
    struct clinux_endpoint address;
    int is_loopback;
    int is_point_to_point;
};
/// Fills up to `capacity` and returns how many there are.
int clinux_interfaces(struct clinux_interface *interfaces, int capacity);

#endif
