/* SPDX-License-Identifier: MIT */
#include "core/at.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/os.h"

blm_status blm__at_read(const struct blm__at *in, uint64_t offset, void *bytes, size_t len,
                        blm_error *err)
{
    blm_error said = { .offset = BLM_NO_OFFSET };
    if (offset > in->size || len > in->size - offset)
        return blm__fail_at(err, BLM_E_TRUNCATED, in->size,
                            "the file ends before byte %llu, which should be in it",
                            (unsigned long long)offset + len);
    if (len == 0)
        return BLM_OK;
    blm_status st = in->read(in->ctx, offset, bytes, len, &said);
    if (st == BLM_OK)
        return BLM_OK;
    if (st > 0) /* the reader broke its contract: its bytes cannot be trusted */
        st = BLM_E_IO;
    if (!said.text[0])
        return blm__fail_at(err, st, offset, "reading %zu bytes failed: %s", len,
                            blm_status_text(st));
    said.status = st;
    if (said.offset == BLM_NO_OFFSET)
        said.offset = offset;
    if (err)
        *err = said;
    return st;
}

/* ---- files ---- */

static blm_status read_file(void *ctx, uint64_t offset, void *bytes, size_t len, blm_error *err)
{
    size_t got;
    int    why = blm__os_read_at((int)(intptr_t)ctx, bytes, len, offset, &got);
    if (why)
        return blm__fail_system(err, why, "cannot read it: %s", blm__os_text(why));
    if (got < len)
        return blm__fail_at(err, BLM_E_TRUNCATED, offset + got,
                            "the file has become shorter while it was read");
    return BLM_OK;
}

blm_status blm__at_open(const char *path, struct blm__at *out, blm_error *err)
{
    struct stat s;
    int         fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return blm__fail_system(err, errno, "cannot open it: %s", blm__os_text(errno));
    int why = fstat(fd, &s) < 0 ? errno : S_ISDIR(s.st_mode) ? EISDIR : 0;
    if (why || !S_ISREG(s.st_mode)) {
        close(fd);
        return why ? blm__fail_system(err, why, "cannot read it: %s", blm__os_text(why))
                   : blm__fail(err, BLM_E_UNSUPPORTED,
                               "it must be a file: a pipe cannot be read from its end");
    }
    *out = (struct blm__at){ read_file, (void *)(intptr_t)fd, (uint64_t)s.st_size };
    return BLM_OK;
}

void blm__at_close(struct blm__at *in)
{
    if (in->read == read_file)
        close((int)(intptr_t)in->ctx);
}
