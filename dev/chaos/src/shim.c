/* Between a program and the C library: writes to a journal fail, and the time of day jumps, while a file says so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Whether the file is there by which it is asked for. */
static int find(const char *trigger, char *path, size_t size)
{
	const char *root = getenv("CHAOS_ROOT");

	if (root == NULL)
		return 0;
	snprintf(path, size, "%s/%s", root, trigger);
	return access(path, F_OK) == 0;
}

static int is_on(const char *trigger)
{
	char path[4096];

	return find(trigger, path, sizeof path);
}

static int is_on_once(const char *trigger)
{
	char path[4096];

	return find(trigger, path, sizeof path) && unlink(path) == 0;
}

static int is_journal(int fd)
{
	char link[64], path[4096];
	const char *name = "/journal.ndjson";
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	if (length < (ssize_t)strlen(name))
		return 0;
	path[length] = 0;
	return strcmp(path + length - strlen(name), name) == 0;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
	static ssize_t (*next)(int, const void *, size_t);
	int saved = errno;

	if (next == NULL)
		next = dlsym(RTLD_NEXT, "write");
	if (is_journal(fd) && (is_on("fail-writes") || is_on_once("fail-one-write"))) {
		/* A part of it may have arrived. */
		if (count > 40)
			next(fd, bytes, count / 2);
		errno = EIO;
		return -1;
	}
	errno = saved;
	return next(fd, bytes, count);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int (*next)(clockid_t, struct timespec *);
	int saved = errno, result;

	if (next == NULL)
		next = dlsym(RTLD_NEXT, "clock_gettime");
	result = next(clock, time);
	if (result == 0 && clock == CLOCK_REALTIME && is_on("jump-clock"))
		time->tv_sec -= 36000;
	errno = saved;
	return result;
}
