/* SPDX-License-Identifier: MIT */
/* SIGINT, SIGTERM and SIGHUP for commands that have something to bring into order first. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on the three signals set a flag instead of ending the process. */
void interrupt_catch(void);
bool interrupted(void);
/* Waits until fd can be read (or has ended); false: interrupted instead. No signal slips in
 * between the look at the flag and the wait. */
bool interrupt_wait(int fd);

#endif
