// Preloaded into a process: calls that SQLite makes on gateway.db and its WAL are counted, and one of them fails.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int counted;
static atomic_int chosen;

/** By number: which call it was, on which file. */
#define MOST 65536
static char kinds[MOST];

void fail_at(int number) {
  atomic_store(&chosen, number);
  atomic_store(&counted, 0);
}

int count(void) { return atomic_load(&counted); }

int kind_of(int number) { return number > 0 && number < MOST ? kinds[number] : 0; }

static int fails(int file, int error, int kind) {
  char path[64], target[4096];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) return 0;
  target[length] = 0;
  if (strstr(target, "/gateway.db") == NULL) return 0;
  int number = atomic_fetch_add(&counted, 1) + 1;
  if (number < MOST) kinds[number] = 2 * kind + (strstr(target, "-wal") != NULL) + 1;
  if (number != atomic_load(&chosen)) return 0;
  errno = error;
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
  return fails(file, ENOSPC, 0) ? -1 : REAL(pwrite)(file, bytes, length, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
  return fails(file, ENOSPC, 0) ? -1 : REAL(pwrite64)(file, bytes, length, at);
}
int fsync(int file) { return fails(file, EIO, 1) ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return fails(file, EIO, 1) ? -1 : REAL(fdatasync)(file); }
int ftruncate(int file, off_t length) { return fails(file, EIO, 2) ? -1 : REAL(ftruncate)(file, length); }
int ftruncate64(int file, off64_t length) {
  return fails(file, EIO, 2) ? -1 : REAL(ftruncate64)(file, length);
}
