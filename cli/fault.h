/* SPDX-License-Identifier: MIT */
/* SIGBUS. A native filter is mapped, and if another program cuts or overwrites its file meanwhile,
 * or the disk fails, the next access to a page that is gone raises it. */
#ifndef CLI_FAULT_H
#define CLI_FAULT_H

/* From here on it ends the process with a message that names the file, and EXIT_TROUBLE. */
void fault_catch(void);

#endif
