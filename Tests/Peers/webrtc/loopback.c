// Preloaded into Janus: its ICE leaves out interfaces that say they are loopback, which is all that there is here.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>

int getifaddrs(struct ifaddrs **list) {
    int (*original)(struct ifaddrs **) = (int (*)(struct ifaddrs **))dlsym(RTLD_NEXT, "getifaddrs");
    int status = original(list);
    for (struct ifaddrs *each = status ? 0 : *list; each; each = each->ifa_next) each->ifa_flags &= ~(unsigned)IFF_LOOPBACK;
    return status;
}
