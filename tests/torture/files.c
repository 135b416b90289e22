/* SPDX-License-Identifier: MIT */
/* What backups, users and half-finished copies do to the two files of a guard, between its sessions:
 * an older file is put back, alone or with its note, as a new file or over the old one. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

/* When a file was changed goes in ticks of the system's clock. Who overwrites it within the tick in
 * which its guard was killed cannot be told from the guard (docs/guard.md); other copies can. */
#define TICK_US 20000u

static void name_of(char out[300], const char *note, int slot)
{
    if (slot < 0)
        snprintf(out, 300, "%s%s", world->path, note);
    else
        snprintf(out, 300, "%s/kept-%d%s", world->base, slot, note);
}

/* over: into the file that is there, as cp does; else as a new one, as rsync and tar do. */
static bool copy(const char *from, const char *to, bool over)
{
    char    bytes[65536], fresh[320];
    ssize_t n  = -1;
    int     in = open(from, O_RDONLY);
    if (in < 0)
        return false;
    snprintf(fresh, sizeof fresh, "%s.copy", to);
    int out = open(over ? to : fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while (out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)n) != n)
            break;
    close(in);
    close(out);
    return n == 0 && (over || rename(fresh, to) == 0);
}

void files_keep(unsigned slot)
{
    trace("  kept as %u\n", slot);
    static const char *const ends[] = { "", ".guard" };
    char                     from[300], to[300];
    for (int i = 0; i < 2; i++) {
        name_of(from, ends[i], -1);
        name_of(to, ends[i], (int)slot);
        copy(from, to, false);
    }
}

void files_forget(void)
{
    static const char *const ends[] = { "", ".guard", ".next", ".copy", ".guard.copy" };
    char                     path[300];
    for (int slot = -1; slot < (int)SNAPSHOTS; slot++)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            name_of(path, ends[i], slot);
            unlink(path);
        }
}

static void damage_note(struct chance *c)
{
    char path[300], byte = (char)draw(c);
    name_of(path, ".guard", -1);
    int fd = open(path, O_WRONLY);
    if (fd < 0)
        return;
    if (once_in(c, 2))
        (void)!ftruncate(fd, (off_t)pick(c, 128));
    else
        (void)!pwrite(fd, &byte, 1, (off_t)pick(c, 128));
    close(fd);
}

static void put_back(unsigned slot, const char *ending, bool over)
{
    char kept[300], there[300];
    name_of(kept, ending, (int)slot);
    name_of(there, ending, -1);
    copy(kept, there, over);
}

void files_put_back(unsigned slot, bool filter, bool note, bool over)
{
    count_up(N_MISCHIEF, 1);
    if (over)
        usleep(TICK_US);
    if (filter)
        put_back(slot, "", over);
    if (note)
        put_back(slot, ".guard", over);
}

void files_mischief(struct chance *c)
{
    static const char *const names[] = { "both", "the filter", "the note", "damage", "removal" };
    char                     path[300];
    unsigned                 slot = (unsigned)pick(c, SNAPSHOTS);
    bool                     over = once_in(c, 2);
    unsigned                 what = (unsigned[]){ 0, 0, 0, 1, 1, 2, 3, 4 }[pick(c, 8)];
    trace("mischief: %s, from %u%s\n", names[what], slot, over ? ", over what is there" : "");
    if (what < 3)
        files_put_back(slot, what != 2, what != 1, over);
    if (what == 3)
        damage_note(c);
    if (what == 4) {
        name_of(path, once_in(c, 2) ? "" : ".guard", -1);
        unlink(path);
    }
}
