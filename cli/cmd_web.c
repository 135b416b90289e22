/* SPDX-License-Identifier: MIT */
/* web: serves the page (web/) to this machine's browser.
 *
 * A connection is one request and one answer, in a thread of its own: browsers open connections
 * ahead of need and send nothing on them. Only the files right in the page's folder are there. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "out.h"
#include "say.h"

static struct {
    const char *dir;
    uint64_t    port;
    bool        path;
} opt;

static const struct option rows[] = {
    { "port", 0, OPT_NUMBER, "PORT", &opt.port,
      "The port to serve on. 0, or without it: a free one.", NULL },
    { "dir", 0, OPT_FILE, "DIR", &opt.dir, "Where the page is, if not where it was installed.",
      NULL },
    { "path", 0, OPT_FLAG, NULL, &opt.path,
      "Print the page's file instead, to open in a browser. It needs no server.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Page", rows };
static const struct option_group *const groups[] = { &own, NULL };

#define PAGE "index.html"

/* ---- where the page is ---- */

/* *out becomes the folder of the page itself, if what is in dir is a link to it. */
static bool has_page(const char *dir, char *out)
{
    char file[PATH_MAX];
    int  n = snprintf(file, sizeof file, "%s/" PAGE, dir);
    if (n < 0 || (size_t)n >= sizeof file || access(file, R_OK) != 0 || !realpath(file, out))
        return false;
    char *slash = strrchr(out, '/');
    if (!slash || strcmp(slash + 1, PAGE) != 0)
        return false;
    *slash = 0;
    return true;
}

/* Beside the program as it is installed, or in the source tree that it was built in. */
static bool find_page(char *out)
{
    static const char *const beside[] = { "../share/bloomery/web", "../web/dist" };
    char                     self[PATH_MAX], dir[PATH_MAX];
    if (opt.dir)
        return has_page(opt.dir, out);
    ssize_t n     = readlink("/proc/self/exe", self, sizeof self - 1);
    char   *slash = NULL;
    if (n > 0) {
        self[n] = 0;
        slash   = strrchr(self, '/');
    }
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        int len = snprintf(dir, sizeof dir, "%.*s/%s", (int)(slash - self), self, beside[i]);
        if (len > 0 && (size_t)len < sizeof dir && has_page(dir, out))
            return true;
    }
    return has_page(BLOOMERY_WEB_DIR, out);
}

/* ---- answering ---- */

static int folder; /* the page's */

/* Connections that end give back what there was too little of. */
static bool is_short(int why)
{
    return why == EMFILE || why == ENFILE || why == ENOBUFS || why == ENOMEM;
}

static bool send_all(int to, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(to, bytes, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        { ".html", "text/html; charset=utf-8" },
        { ".js", "text/javascript; charset=utf-8" },
        { ".css", "text/css; charset=utf-8" },
        { ".svg", "image/svg+xml" },
        { ".wasm", "application/wasm" },
        { ".png", "image/png" },
        { ".json", "application/json; charset=utf-8" },
    };
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t end = strlen(types[i][0]);
        if (len > end && strcmp(name + len - end, types[i][0]) == 0)
            return types[i][1];
    }
    return "application/octet-stream";
}

static void answer(int to, const char *status, const char *type, uint64_t len)
{
    char head[512];
    int  n = snprintf(head, sizeof head,
                      "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\n"
                       "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n"
                       "Referrer-Policy: no-referrer\r\nConnection: close\r\n%s\r\n",
                      status, type, (unsigned long long)len,
                     status[0] == '4' && status[2] == '5' ? "Allow: GET, HEAD\r\n" : "");
    send_all(to, head, (size_t)n);
}

static void refuse(int to, const char *status, bool head)
{
    answer(to, status, "text/plain; charset=utf-8", strlen(status) + 1);
    if (!head && send_all(to, status, strlen(status)))
        send_all(to, "\n", 1);
}

static void send_file(int to, int fd, bool head, const char *name)
{
    char        bytes[65536];
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        refuse(to, "404 Not Found", head);
        return;
    }
    answer(to, "200 OK", type_of(name), (uint64_t)st.st_size);
    ssize_t n;
    while (!head && (n = read(fd, bytes, sizeof bytes)) > 0 && send_all(to, bytes, (size_t)n))
        ;
}

/* A file name and no path: letters, digits, '-', '_' and '.', which it does not begin with. */
static bool is_name(const char *s)
{
    return s[0] && s[0] != '.' &&
           s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] == 0;
}

/* The request line is "GET /name HTTP/1.1". */
static void serve(int to, char *request)
{
    bool head = strncmp(request, "HEAD ", 5) == 0;
    if (!head && strncmp(request, "GET ", 4) != 0) {
        refuse(to, "405 Method Not Allowed", false);
        return;
    }
    char *path    = strchr(request, ' ') + 1;
    char *version = path + strcspn(path, " \r\n");
    if (path[0] != '/' || strncmp(version, " HTTP/1.", 8) != 0) {
        refuse(to, "400 Bad Request", head);
        return;
    }
    *version                  = 0;
    path[strcspn(path, "?#")] = 0;
    const char *name          = path[1] ? path + 1 : PAGE;
    errno                     = 0;
    int fd =
        is_name(name) ? openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (fd < 0) {
        refuse(to, is_short(errno) ? "503 Service Unavailable" : "404 Not Found", head);
        return;
    }
    send_file(to, fd, head, name);
    close(fd);
}

static void *connection(void *arg)
{
    int            to = (int)(intptr_t)arg;
    char           request[8192];
    size_t         len  = 0;
    struct timeval wait = { .tv_sec = 20 };
    setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    for (;;) {
        ssize_t n = recv(to, request + len, sizeof request - 1 - len, 0);
        if (n <= 0)
            break;
        len += (size_t)n;
        request[len] = 0;
        if (memmem(request, len, "\r\n\r\n", 4)) {
            serve(to, request);
            break;
        }
        if (len == sizeof request - 1) {
            refuse(to, "431 Request Header Fields Too Large", false);
            break;
        }
    }
    /* What is closed with bytes unread is reset, and the answer may be lost with it. */
    shutdown(to, SHUT_WR);
    for (size_t left = 128; left && recv(to, request, sizeof request, 0) > 0;)
        left--;
    close(to);
    return NULL;
}

/* ---- the command ---- */

static int listen_here(struct sockaddr_in *at)
{
    int       fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    socklen_t len = sizeof *at;
    *at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)opt.port) };
    at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, (struct sockaddr *)at, len) == 0 && listen(fd, 64) == 0 &&
        getsockname(fd, (struct sockaddr *)at, &len) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int serve_all(const char *dir)
{
    struct sockaddr_in at;
    pthread_attr_t     detached;
    int                fd = listen_here(&at);
    if (fd < 0)
        return system_trouble("127.0.0.1", errno, opt.port ? "give another --port" : NULL);
    folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return system_trouble(dir, errno, NULL);
    out_print("http://127.0.0.1:%u/\n", (unsigned)ntohs(at.sin_port));
    if (!out_flush())
        return EXIT_TROUBLE;
    say("serving %s to this machine only, until you press Ctrl-C", dir);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (;;) {
        pthread_t thread;
        int       to = accept(fd, NULL, NULL);
        if (to < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (to < 0 && is_short(errno)) {
            nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
            continue;
        }
        if (to < 0)
            return system_trouble("127.0.0.1", errno, NULL);
        if (pthread_create(&thread, &detached, connection, (void *)(intptr_t)to) != 0)
            close(to);
    }
}

static int run(int count, char **operands)
{
    (void)count, (void)operands;
    char dir[PATH_MAX];
    if (opt.port > 65535)
        return misuse("--port %llu is no port: give one up to 65535", (unsigned long long)opt.port);
    if (!find_page(dir))
        return opt.dir
                   ? trouble("%s: there is no page here: build it with make web", opt.dir)
                   : trouble("the page is not installed: build it with make web, or give --dir");
    if (!opt.path)
        return serve_all(dir);
    out_print("%s/" PAGE "\n", dir);
    return EXIT_YES;
}

static const char *const usage[] = { "[--port PORT] [--dir DIR]", "--path [--dir DIR]", NULL };
static const char *const about[] = {
    "Serves a page that sizes filters, shows how they work, and opens filter files, and prints its "
    "address. The page computes with this same library, in the browser: no file and no key leaves "
    "the machine.",
    "Only programs on this machine can connect, and they get the page's own files and nothing "
    "else. The page also works as a file: --path prints where it is.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery web", "Serve the page, and print its address" },
    { "xdg-open \"$(bloomery web --path)\"", "Open the page without a server" },
    { NULL, NULL },
};

const struct command cmd_web = {
    .name     = "web",
    .summary  = "serve the page that sizes, shows and opens filters",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "operand",
    .least    = 0,
    .most     = 0,
    .run      = run,
};
