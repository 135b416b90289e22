/* SPDX-License-Identifier: MIT */
/*
 * The head of every JSON result. It names the machine, compiler and command, so that no figure
 * comes without them.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <bloomery.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The rest of the first line of a file that starts with `name`, without quotes or control
 * characters. If name is "", the whole first line. */
static inline void read_line(const char *path, const char *name, char *out, size_t room)
{
    char  line[512];
    FILE *f = fopen(path, "r");
    out[0]  = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, name, strlen(name)) != 0)
            continue;
        const char *p = line + strlen(name);
        size_t      n = 0;
        for (p += strspn(p, " \t:"); *p && n + 1 < room; p++)
            if (*p >= ' ' && *p != '"' && *p != '\\')
                out[n++] = *p;
        out[n] = 0;
        break;
    }
    if (f)
        fclose(f);
}

static inline const char *kernel_name(void)
{
    static char name[32] = "unknown";
    blm_options o        = BLM_OPTIONS_INIT;
    blm_params  p        = { .size = sizeof p };
    blm_filter *f;
    o.items = 1000;
    o.rate  = 0.01;
    o.kind  = BLM_BLOCKED;
    if (blm_create(&o, &f, NULL) != BLM_OK)
        return name;
    if (blm_get_params(f, &p) == BLM_OK)
        snprintf(name, sizeof name, "%s", p.kernel);
    blm_free(f);
    return name;
}

/* Opens the object, {"program": …, "machine": {…}, and leaves the rest to the caller. `place`: where
 * the program is, "build/bench/". */
static inline void report_head_in(const char *place, const char *program, int argc, char **argv)
{
    char   cpu[128], l3[32], memory[64], pages[64], load[64], date[16];
    time_t t = time(NULL);
    read_line("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    read_line("/sys/devices/system/cpu/cpu0/cache/index3/size", "", l3, sizeof l3);
    read_line("/proc/meminfo", "MemTotal", memory, sizeof memory);
    read_line("/sys/kernel/mm/transparent_hugepage/enabled", "", pages, sizeof pages);
    read_line("/proc/loadavg", "", load, sizeof load);
    load[strcspn(load, " ")] = 0;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&t));
    printf("{\"program\": \"%s\",\n \"command\": \"%s%s", program, place, program);
    for (int i = 1; i < argc; i++)
        printf(" %s", argv[i]);
    printf("\",\n \"date\": \"%s\", \"version\": \"%s\", \"kernel\": \"%s\",\n", date,
           blm_version(), kernel_name());
    printf(
        " \"machine\": {\"cpu\": \"%s\", \"processors\": %ld, \"l3\": \"%s\", \"memory\": \"%s\",\n"
        "  \"huge_pages\": \"%s\", \"load\": \"%s\", \"compiler\": \"%s %s\"},\n",
        cpu, sysconf(_SC_NPROCESSORS_ONLN), l3, memory, pages, load,
#if defined(__clang__)
        "clang", __clang_version__
#else
        "gcc", __VERSION__
#endif
    );
}

static inline void report_head(const char *program, int argc, char **argv)
{
    report_head_in("build/bench/", program, argc, argv);
}

#endif
