/* SPDX-License-Identifier: MIT */
/* SIGINT, SIGTERM and SIGHUP for commands that have something to bring into order first; and the
 * end of a wait for input when nobody wants it any more. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on the three signals set a flag instead of ending the process. */
void interrupt_catch(void);
bool interrupted(void);
/* Waits until fd can be read (or has ended); false: interrupted or woken instead. No signal slips
 * in between the look at the flag and the wait. Any thread may wait. */
bool interrupt_wait(int fd);

/* For threads that wait: true when they can be woken. */
bool interrupt_ready(void);
/* on: every wait ends, and none begins, until it is off again. */
void interrupt_wake(bool on);

#endif
