/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over files instead of under an engine. Each argument is a file or a directory
 * of files. So a corpus is an ordinary test, with any compiler and under any sanitizer. Exits with
 * 1 if an argument cannot be read, or if there was no file at all, since an empty corpus proves
 * nothing. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t files;

static int replay_file(const char *path, size_t size)
{
    FILE    *in   = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1); /* no longer than the input: ASan sees over-reads */
    int      ok   = in && data && fread(data, 1, size, in) == size;
    if (in)
        fclose(in);
    if (ok) {
        (void)LLVMFuzzerTestOneInput(data, size);
        files++;
    }
    free(data);
    return ok ? 0 : -1;
}

static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return -1;
    if (!S_ISDIR(st.st_mode))
        return replay_file(path, (size_t)st.st_size);
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    int bad = 0;
    for (struct dirent *e; !bad && (e = readdir(dir)) != NULL;) {
        char inner[4096];
        int  n = snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            bad = n < 0 || (size_t)n >= sizeof inner ? -1 : replay(inner);
    }
    closedir(dir);
    return bad;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i]) != 0) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
    }
    printf("%zu inputs\n", files);
    return files == 0;
}
