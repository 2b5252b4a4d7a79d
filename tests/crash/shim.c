/* Stops or refuses the n-th call that changes something below a folder; LD_PRELOAD, Linux.
 *
 * CRASH_BELOW: the folder; CRASH_AT: n (0: only count); CRASH_HOW: kill, term, nospace, readonly;
 * CRASH_COUNT: a file whose size is the number of calls so far (it stands outside of the folder).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int below(const char *path) {
    const char *root = getenv("CRASH_BELOW");
    if (!root || !path) return 0;
    char full[PATH_MAX];
    if (path[0] != '/') {
        char here[PATH_MAX];
        if (!getcwd(here, sizeof here)) return 0;
        if (snprintf(full, sizeof full, "%s/%s", here, path) >= (int)sizeof full) return 0;
        path = full;
    }
    size_t n = strlen(root);
    return strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static int below_at(int dir, const char *path) {
    if (!path) return 0;
    if (path[0] == '/' || dir == AT_FDCWD) return below(path);
    char link[64], base[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    ssize_t n = readlink(link, base, sizeof base - 1);
    if (n < 0) return 0;
    base[n] = 0;
    return below(base);
}

static int below_fd(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0 || path[0] != '/') return 0;
    path[n] = 0;
    return below(path);
}

/* Count a call; at the n-th, do what was asked. Returns 1 where the call is to fail. */
static int crash(void) {
    const char *count = getenv("CRASH_COUNT"), *how = getenv("CRASH_HOW");
    long at = getenv("CRASH_AT") ? atol(getenv("CRASH_AT")) : 0, seen = 0;
    if (!count) return 0;
    int saved = errno;
    int fd = syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
        struct stat now;
        syscall(SYS_write, fd, ".", 1L);
        if (syscall(SYS_fstat, fd, &now) == 0) seen = now.st_size;
        syscall(SYS_close, fd);
    }
    errno = saved;
    if (!at || !how) return 0;
    if (!strcmp(how, "nospace")) { if (seen >= at) { errno = ENOSPC; return 1; } return 0; }
    if (!strcmp(how, "readonly")) { if (seen >= at) { errno = EROFS; return 1; } return 0; }
    if (seen != at) return 0;
    kill(getpid(), !strcmp(how, "term") ? SIGTERM : SIGKILL);
    if (strcmp(how, "term")) pause();
    return 0;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size) { REAL(write); if (fd > 2 && below_fd(fd) && crash()) return -1; return real(fd, data, size); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { REAL(pwrite64); if (below_fd(fd) && crash()) return -1; return real(fd, data, size, at); }
ssize_t writev(int fd, const struct iovec *parts, int n) { REAL(writev); if (fd > 2 && below_fd(fd) && crash()) return -1; return real(fd, parts, n); }
int rename(const char *a, const char *b) { REAL(rename); if (below(b) && crash()) return -1; return real(a, b); }
int renameat(int d, const char *a, int e, const char *b) { REAL(renameat); if (below_at(e, b) && crash()) return -1; return real(d, a, e, b); }
int unlink(const char *path) { REAL(unlink); if (below(path) && crash()) return -1; return real(path); }
int unlinkat(int dir, const char *path, int flags) { REAL(unlinkat); if (below_at(dir, path) && crash()) return -1; return real(dir, path, flags); }
int rmdir(const char *path) { REAL(rmdir); if (below(path) && crash()) return -1; return real(path); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); if (below(path) && crash()) return -1; return real(path, mode); }
int mkdirat(int dir, const char *path, mode_t mode) { REAL(mkdirat); if (below_at(dir, path) && crash()) return -1; return real(dir, path, mode); }
int fsync(int fd) { REAL(fsync); if (below_fd(fd) && crash()) return -1; return real(fd); }
int fdatasync(int fd) { REAL(fdatasync); if (below_fd(fd) && crash()) return -1; return real(fd); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); if (below_fd(fd) && crash()) return -1; return real(fd, size); }
int chmod(const char *path, mode_t mode) { REAL(chmod); if (below(path) && crash()) return -1; return real(path, mode); }

#define OPEN(name, ...) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int open(const char *path, int flags, ...) { REAL(open); OPEN(open) if ((flags & O_CREAT) && below(path) && crash()) return -1; return real(path, flags, mode); }
int open64(const char *path, int flags, ...) { REAL(open64); OPEN(open64) if ((flags & O_CREAT) && below(path) && crash()) return -1; return real(path, flags, mode); }
int openat(int dir, const char *path, int flags, ...) { REAL(openat); OPEN(openat) if ((flags & O_CREAT) && below_at(dir, path) && crash()) return -1; return real(dir, path, flags, mode); }
int openat64(int dir, const char *path, int flags, ...) { REAL(openat64); OPEN(openat64) if ((flags & O_CREAT) && below_at(dir, path) && crash()) return -1; return real(dir, path, flags, mode); }
