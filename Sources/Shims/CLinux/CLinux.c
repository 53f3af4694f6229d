#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/errqueue.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Endpoints

static socklen_t to_sockaddr(int version, const struct clinux_endpoint *endpoint, struct sockaddr_storage *out) {
    memset(out, 0, sizeof *out);
    if (version == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *)out;
        if (endpoint->version != 4) return 0;
        in->sin_family = AF_INET;
        in->sin_port = htons(endpoint->port);
        memcpy(&in->sin_addr, endpoint->bytes, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(endpoint->port);
    if (endpoint->version == 4) {
        in6->sin6_addr.s6_addr[10] = in6->sin6_addr.s6_addr[11] = 0xFF;
        memcpy(in6->sin6_addr.s6_addr + 12, endpoint->bytes, 4);
    } else {
        memcpy(&in6->sin6_addr, endpoint->bytes, 16);
        in6->sin6_scope_id = endpoint->scope;
    }
    return sizeof *in6;
}

static void from_in6(const struct in6_addr *address, uint32_t scope, struct clinux_endpoint *out) {
    if (IN6_IS_ADDR_V4MAPPED(address)) {
        out->version = 4;
        memcpy(out->bytes, address->s6_addr + 12, 4);
    } else {
        out->version = 6;
        memcpy(out->bytes, address, 16);
        out->scope = IN6_IS_ADDR_LINKLOCAL(address) ? scope : 0;
    }
}

static void from_sockaddr(const struct sockaddr *address, struct clinux_endpoint *out) {
    memset(out, 0, sizeof *out);
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        out->version = 4;
        out->port = ntohs(in->sin_port);
        memcpy(out->bytes, &in->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
        out->port = ntohs(in6->sin6_port);
        from_in6(&in6->sin6_addr, in6->sin6_scope_id, out);
    }
}

// Threads and waiting

int clinux_name_thread(const char *name) {
    char shortened[16];
    strncpy(shortened, name, 15);
    shortened[15] = 0;
    return pthread_setname_np(pthread_self(), shortened);
}

int clinux_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds) {
    // Kernels before 5.11, and sandboxes that do not know the call, have only the one that counts milliseconds.
    static _Atomic int is_missing;
    if (!is_missing) {
        struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
        int count = epoll_pwait2(epoll, events, capacity, nanoseconds < 0 ? NULL : &timeout, NULL);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
        is_missing = 1;
    }
    int64_t milliseconds = nanoseconds < 0 ? -1 : nanoseconds / 1000000 + (nanoseconds % 1000000 != 0);
    return epoll_wait(epoll, events, capacity, milliseconds > INT_MAX ? INT_MAX : (int)milliseconds);
}

// Making sockets

int clinux_socket(int version, int is_stream, int dual_stack) {
    int type = (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(version == 4 ? AF_INET : AF_INET6, type, 0);
    if (fd >= 0 && version == 6) {
        int only6 = !dual_stack;
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only6, sizeof only6);
    }
    return fd;
}

int clinux_bind(int fd, int version, const struct clinux_endpoint *endpoint) {
    struct sockaddr_storage address;
    socklen_t length = to_sockaddr(version, endpoint, &address);
    if (!length) return errno = EAFNOSUPPORT, -1;
    return bind(fd, (struct sockaddr *)&address, length);
}

int clinux_connect(int fd, int version, const struct clinux_endpoint *endpoint) {
    struct sockaddr_storage address;
    socklen_t length = to_sockaddr(version, endpoint, &address);
    if (!length) return errno = EAFNOSUPPORT, -1;
    return connect(fd, (struct sockaddr *)&address, length);
}

int clinux_accept(int fd, struct clinux_endpoint *remote) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    int accepted = accept4(fd, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) from_sockaddr((struct sockaddr *)&address, remote);
    return accepted;
}

int clinux_local(int fd, struct clinux_endpoint *endpoint) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return -1;
    from_sockaddr((struct sockaddr *)&address, endpoint);
    return 0;
}

int clinux_pending_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

int clinux_listen(int fd) { return listen(fd, SOMAXCONN); }

long clinux_stream_send(int fd, const void *bytes, size_t count) { return send(fd, bytes, count, MSG_NOSIGNAL); }

int clinux_finish(int fd) { return shutdown(fd, SHUT_WR); }

static int set(int fd, int level, int option, int value) {
    return setsockopt(fd, level, option, &value, sizeof value);
}

int clinux_set_datagram_options(int fd, int version, int packet_info, int code_point) {
    int result = 0;
    // Both levels on an IPv6 socket: it may carry IPv4 too, and takes the IPv4 options silently.
    if (version == 6) {
        result |= set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
        if (packet_info) result |= set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
        if (code_point) result |= set(fd, IPPROTO_IPV6, IPV6_TCLASS, code_point << 2);
    }
    result |= set(fd, IPPROTO_IP, IP_RECVERR, 1);
    if (packet_info && version == 4) result |= set(fd, IPPROTO_IP, IP_PKTINFO, 1);
    if (code_point) result |= set(fd, IPPROTO_IP, IP_TOS, code_point << 2);
    return result;
}

int clinux_set_stream_options(int fd, int keep_alive) {
    int result = set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (keep_alive) {
        result |= set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
        result |= set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
        result |= set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 15);
        result |= set(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
    }
    return result;
}

int clinux_set_reuse_address(int fd) { return set(fd, SOL_SOCKET, SO_REUSEADDR, 1); }

int clinux_set_buffer_sizes(int fd, int receive, int send) {
    int result = 0;
    if (receive > 0) result |= set(fd, SOL_SOCKET, SO_RCVBUF, receive);
    if (send > 0) result |= set(fd, SOL_SOCKET, SO_SNDBUF, send);
    return result;
}

// Datagrams

enum { BATCH = 32 };
union control {
    char room[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct in_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
    struct cmsghdr align;
};

static void read_local(struct msghdr *message, struct clinux_endpoint *local) {
    memset(local, 0, sizeof *local);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            local->version = 4;
            memcpy(local->bytes, &info.ipi_addr, 4);
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            from_in6(&info.ipi6_addr, info.ipi6_ifindex, local);
        }
    }
}

int clinux_receive(int fd, struct clinux_datagram *datagrams, unsigned count) {
    struct mmsghdr messages[BATCH];
    struct iovec vectors[BATCH];
    struct sockaddr_storage addresses[BATCH];
    union control controls[BATCH];
    if (count > BATCH) count = BATCH;
    for (unsigned i = 0; i < count; i++) {
        vectors[i] = (struct iovec){datagrams[i].base, datagrams[i].count};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &addresses[i], .msg_namelen = sizeof addresses[i], .msg_iov = &vectors[i], .msg_iovlen = 1,
            .msg_control = &controls[i], .msg_controllen = sizeof controls[i]};
    }
    int received = recvmmsg(fd, messages, count, 0, NULL);
    for (int i = 0; i < received; i++) {
        datagrams[i].count = messages[i].msg_len;
        datagrams[i].truncated = (messages[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
        from_sockaddr((struct sockaddr *)&addresses[i], &datagrams[i].remote);
        read_local(&messages[i].msg_hdr, &datagrams[i].local);
    }
    return received;
}

/// Appends where the datagram is to leave from, and, for segmented sends, the size of each segment.
static void write_control(struct msghdr *message, union control *room, int version, const struct clinux_endpoint *local, uint16_t segment) {
    size_t used = 0;
    memset(room, 0, sizeof *room);
    message->msg_control = room;
    message->msg_controllen = sizeof *room;
    struct cmsghdr *c = CMSG_FIRSTHDR(message);
    if (local->version == 4 && version == 4) {
        struct in_pktinfo info = {0};
        memcpy(&info.ipi_spec_dst, local->bytes, 4);
        c->cmsg_level = IPPROTO_IP, c->cmsg_type = IP_PKTINFO, c->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(c), &info, sizeof info);
        used = CMSG_SPACE(sizeof info);
    } else if (local->version && version == 6) {
        struct in6_pktinfo info = {0};
        struct sockaddr_storage address;
        to_sockaddr(6, local, &address);
        info.ipi6_addr = ((struct sockaddr_in6 *)&address)->sin6_addr;
        info.ipi6_ifindex = local->scope;
        c->cmsg_level = IPPROTO_IPV6, c->cmsg_type = IPV6_PKTINFO, c->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(c), &info, sizeof info);
        used = CMSG_SPACE(sizeof info);
    }
    if (segment) {
        c = (struct cmsghdr *)(room->room + used);
        c->cmsg_level = SOL_UDP, c->cmsg_type = UDP_SEGMENT, c->cmsg_len = CMSG_LEN(sizeof segment);
        memcpy(CMSG_DATA(c), &segment, sizeof segment);
        used += CMSG_SPACE(sizeof segment);
    }
    message->msg_controllen = used;
    if (!used) message->msg_control = NULL;
}

int clinux_send(int fd, int version, const struct clinux_datagram *datagrams, unsigned count) {
    struct mmsghdr messages[BATCH];
    struct iovec vectors[BATCH];
    struct sockaddr_storage addresses[BATCH];
    union control controls[BATCH];
    if (count > BATCH) count = BATCH;
    for (unsigned i = 0; i < count; i++) {
        socklen_t length = to_sockaddr(version, &datagrams[i].remote, &addresses[i]);
        if (!length) return errno = EAFNOSUPPORT, -1;
        vectors[i] = (struct iovec){datagrams[i].base, datagrams[i].count};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &addresses[i], .msg_namelen = length, .msg_iov = &vectors[i], .msg_iovlen = 1};
        write_control(&messages[i].msg_hdr, &controls[i], version, &datagrams[i].local, 0);
    }
    if (count == 1) return sendmsg(fd, &messages[0].msg_hdr, MSG_NOSIGNAL) < 0 ? -1 : 1;
    return sendmmsg(fd, messages, count, MSG_NOSIGNAL);
}

int clinux_send_segmented(int fd, int version, const struct clinux_datagram *datagrams, unsigned count, uint16_t segment) {
    struct sockaddr_storage address;
    struct iovec vectors[64];
    union control control;
    socklen_t length = to_sockaddr(version, &datagrams[0].remote, &address);
    if (!length) return errno = EAFNOSUPPORT, -1;
    if (count > 64) return errno = EINVAL, -1;
    for (unsigned i = 0; i < count; i++) vectors[i] = (struct iovec){datagrams[i].base, datagrams[i].count};
    struct msghdr message = {.msg_name = &address, .msg_namelen = length, .msg_iov = vectors, .msg_iovlen = count};
    write_control(&message, &control, version, &datagrams[0].local, segment);
    return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int clinux_receive_error(int fd, struct clinux_datagram_error *error) {
    char payload[1], room[512];
    struct iovec vector = {payload, sizeof payload};
    struct sockaddr_storage address;
    memset(&address, 0, sizeof address);
    memset(error, 0, sizeof *error);
    struct msghdr message = {
        .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &vector, .msg_iovlen = 1, .msg_control = room,
        .msg_controllen = sizeof room};
    if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return -1;
    // The address is the original destination of the datagram.
    if (message.msg_namelen > 0) from_sockaddr((struct sockaddr *)&address, &error->destination);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        int is4 = c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR;
        int is6 = c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR;
        if (!is4 && !is6) continue;
        struct sock_extended_err extended;
        memcpy(&extended, CMSG_DATA(c), sizeof extended);
        error->code = extended.ee_errno;
    }
    return 0;
}

// Interfaces

int clinux_address_monitor(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_LINK};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int code = errno;
        close(fd);
        return errno = code, -1;
    }
    return fd;
}

long clinux_drain(int fd) {
    char room[8192];
    return recv(fd, room, sizeof room, MSG_DONTWAIT);
}

int clinux_interfaces(struct clinux_interface *interfaces, int capacity) {
    struct ifaddrs *list;
    if (getifaddrs(&list) != 0) return -1;
    int count = 0;
    for (struct ifaddrs *each = list; each; each = each->ifa_next) {
        if (!each->ifa_addr || !(each->ifa_flags & IFF_UP)) continue;
        if (each->ifa_addr->sa_family != AF_INET && each->ifa_addr->sa_family != AF_INET6) continue;
        if (count < capacity) {
            struct clinux_interface *out = &interfaces[count];
            memset(out, 0, sizeof *out);
            strncpy(out->name, each->ifa_name, sizeof out->name - 1);
            from_sockaddr(each->ifa_addr, &out->address);
            out->is_loopback = (each->ifa_flags & IFF_LOOPBACK) != 0;
            out->is_point_to_point = (each->ifa_flags & IFF_POINTOPOINT) != 0;
        }
        count++;
    }
    freeifaddrs(list);
    return count;
}
