// Debian 12 has 1.18, which knows nothing but what later versions call deprecated.
#define CARES_NO_DEPRECATED
#include <ares.h>
#include <arpa/nameser.h>

// The statuses as ints, which is what functions return: macros up to 1.18 and members of an enumeration since 1.23 are of
// different types in Swift.
static const int cares_success = ARES_SUCCESS;
static const int cares_not_found = ARES_ENOTFOUND;
static const int cares_no_data = ARES_ENODATA;
static const int cares_bad_name = ARES_EBADNAME;
static const int cares_timeout = ARES_ETIMEOUT;
static const int cares_refused = ARES_ECONNREFUSED;
static const int cares_destruction = ARES_EDESTRUCTION;
static const int cares_cancelled = ARES_ECANCELLED;
