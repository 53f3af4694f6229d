/* link.c: an impaired link between two network namespaces, by two TUN devices; no kernel's netem is needed.
 *
 *   link PID_A ADDRESS_A PID_B ADDRESS_B
 *
 * Makes "lab0" in the namespaces of the two processes and carries whole packets between them. Words on standard input
 * change what happens to the packets from then on, both ways, or with "a:" or "b:" before them from A or from B alone:
 *
 *   loss=PERCENT   lost at random
 *   delay=MS       under way
 *   jitter=MS      from none to this much more; the order is kept
 *   rate=KBIT      a narrow place; 0: none
 *   queue=MS       what may stand before it; more is dropped
 *   stats          a line for each way
 *
 * It ends with its input.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { LONG_QUEUE = 200000, MOST = 65536 };

struct packet {
    int64_t due;
    int length;
    struct packet *next;
    unsigned char bytes[];
};

struct way {
    double loss, delay, jitter, rate, queue;
    struct packet *first, **last;
    int64_t free_at, last_due, last_arrival;
    unsigned long long in, out, lost, dropped, bytes_out;
    /* The longest queue, and how long it was longer than LONG_QUEUE, both since the last "stats". */
    int64_t longest, over;
};

static struct way ways[2];
static int descriptors[2];
static uint64_t state = 0x9E3779B97F4A7C15ULL;

static double dice(void) { /* xorshift64* */
    state ^= state >> 12; state ^= state << 25; state ^= state >> 27;
    return (double)((state * 2685821657736338717ULL) >> 11) / 9007199254740992.0;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void tell(void) {
    for (int i = 0; i < 2; i++) {
        struct way *way = &ways[i];
        printf("stats in=%llu out=%llu lost=%llu dropped=%llu bytes=%llu longest=%.1f over=%.3f\n", way->in, way->out,
               way->lost, way->dropped, way->bytes_out, way->longest / 1e3, way->over / 1e6);
        way->longest = way->over = 0;
    }
    fflush(stdout);
}

static void obey(char *word) {
    int from = 0, to = 1;
    if (!strcmp(word, "stats")) { tell(); return; }
    if (!strncmp(word, "a:", 2)) { to = 0; word += 2; }
    else if (!strncmp(word, "b:", 2)) { from = 1; word += 2; }
    char *value = strchr(word, '=');
    if (!value) return;
    *value++ = 0;
    for (int i = from; i <= to; i++) {
        struct way *way = &ways[i];
        double number = atof(value);
        if (!strcmp(word, "loss")) way->loss = number / 100;
        else if (!strcmp(word, "delay")) way->delay = number;
        else if (!strcmp(word, "jitter")) way->jitter = number;
        else if (!strcmp(word, "rate")) { way->rate = number; way->free_at = 0; }
        else if (!strcmp(word, "queue")) way->queue = number;
        else fprintf(stderr, "unknown word %s\n", word);
    }
}

static void arrive(struct way *way, const unsigned char *bytes, int length) {
    way->in++;
    if (dice() < way->loss) { way->lost++; return; }
    int64_t time = now();
    if (way->rate > 0) {
        int64_t start = way->free_at > time ? way->free_at : time, queue = start - time;
        if (queue > way->longest) way->longest = queue;
        if (queue > LONG_QUEUE && time - way->last_arrival < 100000) way->over += time - way->last_arrival;
        way->last_arrival = time;
        if (queue > way->queue * 1000) { way->dropped++; return; }
        way->free_at = start + (int64_t)(length * 8000.0 / way->rate);
        time = way->free_at;
    }
    time += (int64_t)((way->delay + dice() * way->jitter) * 1000);
    if (time < way->last_due) time = way->last_due;
    way->last_due = time;
    struct packet *packet = malloc(sizeof *packet + length);
    packet->due = time;
    packet->length = length;
    packet->next = NULL;
    memcpy(packet->bytes, bytes, length);
    *way->last = packet;
    way->last = &packet->next;
}

static void depart(int i) {
    struct way *way = &ways[i];
    int64_t time = now();
    while (way->first && way->first->due <= time) {
        struct packet *packet = way->first;
        way->first = packet->next;
        if (!way->first) way->last = &way->first;
        if (write(descriptors[1 - i], packet->bytes, packet->length) >= 0) {
            way->out++;
            way->bytes_out += packet->length;
        }
        free(packet);
    }
}

static int tun(const char *process, const char *address, const char *other) {
    char text[256];
    snprintf(text, sizeof text, "/proc/%s/ns/net", process);
    int namespace = open(text, O_RDONLY);
    if (namespace < 0 || setns(namespace, CLONE_NEWNET)) { perror(text); exit(1); }
    close(namespace);
    int descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strcpy(request.ifr_name, "lab0");
    if (descriptor < 0 || ioctl(descriptor, TUNSETIFF, &request)) { perror("/dev/net/tun"); exit(1); }
    snprintf(text, sizeof text, "ip addr add %s peer %s dev lab0 && ip link set lab0 mtu 1500 txqueuelen 1000 up", address, other);
    if (system(text)) { fprintf(stderr, "ip failed\n"); exit(1); }
    return descriptor;
}

int main(int count, char **words) {
    if (count != 5) { fprintf(stderr, "usage: link PID_A ADDRESS_A PID_B ADDRESS_B\n"); return 2; }
    for (int i = 0; i < 2; i++) {
        ways[i].queue = 200;
        ways[i].last = &ways[i].first;
        descriptors[i] = tun(words[1 + 2 * i], words[2 + 2 * i], words[4 - 2 * i]);
    }
    printf("up\n");
    fflush(stdout);
    prctl(PR_SET_TIMERSLACK, 50000UL, 0, 0, 0);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    static unsigned char bytes[MOST];
    static char line[4096];
    int filled = 0;
    for (;;) {
        int64_t due = 0;
        for (int i = 0; i < 2; i++)
            if (ways[i].first && (!due || ways[i].first->due < due)) due = ways[i].first->due;
        struct itimerspec setting = {.it_value = {due / 1000000, due % 1000000 * 1000}};
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL);
        struct pollfd polled[4] = {{descriptors[0], POLLIN, 0}, {descriptors[1], POLLIN, 0}, {timer, POLLIN, 0}, {0, POLLIN, 0}};
        if (poll(polled, 4, -1) < 0 && errno != EINTR) { perror("poll"); return 1; }
        for (int i = 0; i < 2; i++) {
            if (!(polled[i].revents & POLLIN)) continue;
            for (int k = 0; k < 64; k++) {
                ssize_t length = read(descriptors[i], bytes, sizeof bytes);
                if (length <= 0) break;
                arrive(&ways[i], bytes, (int)length);
            }
        }
        uint64_t expirations;
        if (read(timer, &expirations, sizeof expirations) < 0 && errno != EAGAIN) { perror("timer"); return 1; }
        depart(0);
        depart(1);
        if (!(polled[3].revents & (POLLIN | POLLHUP))) continue;
        ssize_t length = read(0, line + filled, sizeof line - 1 - filled);
        if (length <= 0) return 0;
        filled += length;
        line[filled] = 0;
        for (char *end; (end = strchr(line, '\n'));) {
            *end = 0;
            for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) obey(word);
            filled = strlen(end + 1);
            memmove(line, end + 1, filled + 1);
        }
    }
}
