#ifndef CRIG_H
#define CRIG_H

#include <stdint.h>

// Sets a control of a video node, by a descriptor of its own; 0, or an error number.
int rig_set_control(const char *path, uint32_t identifier, int32_t value);

// Makes the process a nobody, or root again; 0, or an error number.
int rig_become_nobody(void);
int rig_become_root(void);

// Lines appear as they are printed.
void rig_print_at_once(void);

#endif
