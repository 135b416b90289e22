/* SPDX-License-Identifier: MIT */
/* SIGINT, SIGTERM and SIGHUP for commands that must clean up first, and a way to end waits for
 * input that is no longer wanted. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on the three signals set a flag instead of ending the process. */
void interrupt_catch(void);
bool interrupted(void);
/* Waits until fd can be read (or has ended). False: interrupted or woken instead. No signal is
 * missed between the test of the flag and the wait. Any thread may wait. */
bool interrupt_wait(int fd);

/* For threads that wait: true when they can be woken. */
bool interrupt_ready(void);
/* on: every wait ends, and no new one starts until it is off again. */
void interrupt_wake(bool on);

#endif
