/* Makes one system call of a program fail. Preloaded into it; the environment says which call:
 *
 *   FAULT_UNDER   only calls on files below this directory are counted
 *   FAULT_LOG     where to note what happened: LOG.fired when the call failed, LOG.counts at the end of the program
 *   FAULT_CALL    the class: write, sync, rename, open, truncate, mmap, read, unlink; without it calls are only counted
 *   FAULT_NUMBER  the call of the class that fails, from 1
 *   FAULT_ERRNO   the error; 0: half of a write or read is done instead
 *   FAULT_STAYS   when set, all later calls of the class fail too
 *
 * Nothing here calls a function that it replaces: notes are written by bare system calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE, SYNC, RENAME, OPEN, TRUNCATE, MMAP, READ, UNLINK, CLASSES };
static const char *const NAMES[CLASSES] = {"write", "sync", "rename", "open", "truncate", "mmap", "read", "unlink"};

static atomic_long counts[CLASSES];
static const char *under, *logged;
static int class = -1, error, stays;
static long number;

__attribute__((constructor)) static void begin(void) {
    const char *call = getenv("FAULT_CALL");
    const char *text;
    under = getenv("FAULT_UNDER");
    logged = getenv("FAULT_LOG");
    for (int at = 0; call && at < CLASSES; at++)
        if (!strcmp(call, NAMES[at])) class = at;
    number = (text = getenv("FAULT_NUMBER")) ? atol(text) : 0;
    error = (text = getenv("FAULT_ERRNO")) ? atoi(text) : EIO;
    stays = getenv("FAULT_STAYS") != NULL;
    /* Programs that this one starts, such as git, are left alone: their calls are not its own. */
    unsetenv("LD_PRELOAD");
}

static void note(const char *suffix, const char *text) {
    char path[4096];
    if (!logged || snprintf(path, sizeof path, "%s.%s", logged, suffix) >= (int)sizeof path) return;
    long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    syscall(SYS_write, file, text, strlen(text));
    syscall(SYS_close, file);
}

__attribute__((destructor)) static void end(void) {
    char text[512] = "";
    for (int at = 0; at < CLASSES; at++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s %ld\n", NAMES[at], atomic_load(&counts[at]));
    }
    note("counts", text);
}

static int below(const char *path) {
    size_t length;
    if (!under || !path) return 0;
    /* The program stands in the directory, or names it whole. */
    if (path[0] != '/') return 1;
    length = strlen(under);
    return !strncmp(path, under, length);
}

static int file_below(int file) {
    char link[64], path[4096];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    errno = saved;
    if (length <= 0 || path[0] != '/') return 0;
    path[length] = 0;
    return below(path);
}

/* Counts a call that concerns the directory; whether it is to fail. */
static int fails(int of, int concerns) {
    if (!concerns) return 0;
    long mine = atomic_fetch_add(&counts[of], 1) + 1;
    if (of != class || !(mine == number || (stays && mine > number))) return 0;
    if (mine == number) note("fired", "fired\n");
    return 1;
}

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

#define FAIL(of, concerns) \
    do { \
        if (fails(of, concerns)) { errno = error ? error : EIO; return -1; } \
    } while (0)

/* A transfer fails, or is half done where that is asked for. */
#define TRANSFER(of, file, whole, half) \
    do { \
        if (fails(of, file_below(file))) { \
            if (error) { errno = error; return -1; } \
            if (size > 1) return half; \
        } \
        return whole; \
    } while (0)

ssize_t write(int file, const void *data, size_t size) {
    TRANSFER(WRITE, file, REAL(write)(file, data, size), REAL(write)(file, data, size / 2));
}
ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    TRANSFER(WRITE, file, REAL(pwrite)(file, data, size, at), REAL(pwrite)(file, data, size / 2, at));
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    TRANSFER(WRITE, file, REAL(pwrite64)(file, data, size, at), REAL(pwrite64)(file, data, size / 2, at));
}
ssize_t writev(int file, const struct iovec *parts, int size) {
    TRANSFER(WRITE, file, REAL(writev)(file, parts, size), REAL(writev)(file, parts, size / 2));
}
ssize_t read(int file, void *data, size_t size) {
    TRANSFER(READ, file, REAL(read)(file, data, size), REAL(read)(file, data, size / 2));
}
ssize_t pread(int file, void *data, size_t size, off_t at) {
    TRANSFER(READ, file, REAL(pread)(file, data, size, at), REAL(pread)(file, data, size / 2, at));
}
ssize_t pread64(int file, void *data, size_t size, off64_t at) {
    TRANSFER(READ, file, REAL(pread64)(file, data, size, at), REAL(pread64)(file, data, size / 2, at));
}

int fsync(int file) { FAIL(SYNC, file_below(file)); return REAL(fsync)(file); }
int fdatasync(int file) { FAIL(SYNC, file_below(file)); return REAL(fdatasync)(file); }
int msync(void *at, size_t size, int flags) { FAIL(SYNC, 1); return REAL(msync)(at, size, flags); }

int rename(const char *from, const char *to) { FAIL(RENAME, below(to)); return REAL(rename)(from, to); }
int renameat(int a, const char *from, int b, const char *to) {
    FAIL(RENAME, below(to));
    return REAL(renameat)(a, from, b, to);
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    FAIL(RENAME, below(to));
    return REAL(renameat2)(a, from, b, to, flags);
}
int link(const char *from, const char *to) { FAIL(RENAME, below(to)); return REAL(link)(from, to); }

int ftruncate(int file, off_t size) { FAIL(TRUNCATE, file_below(file)); return REAL(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) { FAIL(TRUNCATE, file_below(file)); return REAL(ftruncate64)(file, size); }

int unlink(const char *path) { FAIL(UNLINK, below(path)); return REAL(unlink)(path); }
int unlinkat(int directory, const char *path, int flags) {
    FAIL(UNLINK, below(path));
    return REAL(unlinkat)(directory, path, flags);
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? va_arg(rest, mode_t) : 0;
}
#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        FAIL(OPEN, below(path)); \
        return REAL(name)(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)
#define OPENS_AT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        FAIL(OPEN, below(path)); \
        return REAL(name)(directory, path, flags, mode); \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

#define MAPS(name, offset) \
    void *name(void *at, size_t size, int access, int flags, int file, offset from) { \
        if (!(flags & MAP_ANONYMOUS) && fails(MMAP, file_below(file))) { \
            errno = error ? error : ENOMEM; \
            return MAP_FAILED; \
        } \
        return REAL(name)(at, size, access, flags, file, from); \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)
