// Linux calls that Swift's Glibc module lacks. No _GNU_SOURCE here: it would clash with that module.
#ifndef CLINUX_H
#define CLINUX_H

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#endif
