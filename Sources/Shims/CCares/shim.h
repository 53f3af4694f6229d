#include <ares.h>
#include <arpa/nameser.h>
