// The parsers to compare with, each behind one function: 1 where the message was read.
#include <osipparser2/osip_parser.h>
#include <sofia-sip/msg_types.h>
#include <sofia-sip/msg_addr.h>
#include <sofia-sip/sip.h>
#include <sofia-sip/sip_header.h>
#include <sofia-sip/su_alloc.h>
#include <sofia-sip/msg.h>
#include <sofia-sip/sip_protos.h>

int bench_osip(const char *bytes, unsigned long length) {
    static int is_ready;
    if (!is_ready) is_ready = parser_init() == 0;
    osip_message_t *message;
    if (osip_message_init(&message) != 0) return 0;
    int status = osip_message_parse(message, bytes, length);
    osip_message_free(message);
    return status == 0;
}

int bench_sofia(const char *bytes, unsigned long length) {
    msg_t *message = msg_make(sip_default_mclass(), 0, bytes, (ssize_t)length);
    if (!message) return 0;
    sip_t *sip = sip_object(message);
    int isRead = sip && !sip->sip_error && (sip->sip_request || sip->sip_status);
    msg_destroy(message);
    return isRead;
}
