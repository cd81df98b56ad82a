// A server of tests: `forks MODE`, on 127.0.0.1:$PORT. Each request takes $BURN_NS of CPU time, in a process that the mode says.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 2
#define REQUESTS_OF_A_WORKER 10
static const char ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
static const char LAST[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
static const char *mode, *program;
static int listener, helper[2];
static long burn_ns = 2000000;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int is(const char *name) { return strcmp(mode, name) == 0; }

static long cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void burn(void) { for (long end = cpu_ns() + burn_ns; cpu_ns() < end;) {} }

static void put(int to, const char *text, size_t length) { if (write(to, text, length) < 0) _exit(1); }

static void work(int client) { burn(); put(client, ANSWER, sizeof ANSWER - 1); }

// What waits for nobody: the parent of the one that works has ended, and init adopts it.
static void work_as_orphan(int client, int leaves) {
    if (fork()) _exit(0);
    if (leaves) { setsid(); close(listener); }
    work(client);
    _exit(0);
}

static void work_as_program(int client) {
    dup2(client, 1);
    execl(program, program, "cgi", (char *)0);
    _exit(1);
}

// By a process that was there before, and that no process of the server started: it is only spoken to.
static void ask_helper(int client) {
    char done;
    pthread_mutex_lock(&one_at_a_time);
    put(helper[0], "?", 1);
    if (read(helper[0], &done, 1) != 1) _exit(1);
    pthread_mutex_unlock(&one_at_a_time);
    put(client, ANSWER, sizeof ANSWER - 1);
}

static void answer(int client) {
    if (is("alone")) { work(client); return; }
    if (is("helped")) { ask_helper(client); return; }
    pid_t child = fork();
    if (child == 0) {
        if (is("orphan") || is("adopted")) work_as_orphan(client, 0);
        if (is("daemon")) work_as_orphan(client, 1);
        if (is("cgi")) work_as_program(client);
        work(client);
        _exit(0);
    }
    if (is("waited") || is("orphan") || is("daemon") || is("cgi")) waitpid(child, 0, 0);
    if (is("adopted")) while (waitpid(-1, 0, 0) > 0) {}
    if (is("late")) while (waitpid(-1, 0, WNOHANG) > 0) {}
}

static int begins(char *got, int *length) {
    char *end = memmem(got, *length, "\r\n\r\n", 4);
    if (!end) return 0;
    *length -= end + 4 - got;
    memmove(got, end + 4, *length);
    return 1;
}

static void *serve(void *given) {
    int client = (int)(long)given, length = 0;
    char got[65536];
    for (ssize_t more; (more = read(client, got + length, sizeof got - length)) > 0;) {
        length += more;
        while (begins(got, &length)) answer(client);
    }
    close(client);
    return 0;
}

static int next(void) {
    int on = 1, client;
    while ((client = accept(listener, 0, 0)) < 0) {}
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return client;
}

// A worker that ends after some requests, as `gunicorn --max-requests`.
static void worker(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char got[65536];
    for (int left = REQUESTS_OF_A_WORKER; left > 0;) {
        int client = next(), length = 0;
        for (ssize_t more; (more = read(client, got + length, sizeof got - length)) > 0;) {
            length += more;
            if (begins(got, &length)) { burn(); put(client, LAST, sizeof LAST - 1); left--; break; }
        }
        close(client);
    }
    _exit(0);
}

// Each worker holds an end of a pipe, so that its end is seen whether it is waited for or not.
static void prefork(void) {
    struct pollfd workers[WORKERS];
    pid_t pids[WORKERS];
    for (int n = 0; n < WORKERS; n++) workers[n] = (struct pollfd){-1, 0, 0};
    for (;;) {
        for (int n = 0; n < WORKERS; n++) {
            int ends[2];
            if (workers[n].fd >= 0 && !(workers[n].revents & POLLHUP)) continue;
            if (workers[n].fd >= 0) {
                close(workers[n].fd);
                if (is("recycled")) waitpid(pids[n], 0, 0);
            }
            if (pipe(ends)) _exit(1);
            if ((pids[n] = fork()) == 0) { close(ends[0]); worker(); }
            close(ends[1]);
            workers[n] = (struct pollfd){ends[0], 0, 0};
        }
        poll(workers, WORKERS, -1);
    }
}

// A helper that init adopts, before anybody listens.
static void start_helper(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, helper)) _exit(1);
    pid_t between = fork();
    if (between) { waitpid(between, 0, 0); close(helper[1]); return; }
    if (fork()) _exit(0);
    setsid();
    close(helper[0]);
    for (char asked; read(helper[1], &asked, 1) == 1;) { burn(); put(helper[1], "!", 1); }
    _exit(0);
}

int main(int count, char **words) {
    program = words[0];
    mode = count > 1 ? words[1] : "alone";
    if (getenv("BURN_NS")) burn_ns = atol(getenv("BURN_NS"));
    if (is("cgi")) { burn(); put(1, ANSWER, sizeof ANSWER - 1); return 0; }
    if (is("gateway")) mode = "cgi";
    if (is("helped")) start_helper();
    if (is("ignored") || is("recycled-ignored")) signal(SIGCHLD, SIG_IGN);
    if (is("adopted")) prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGPIPE, SIG_IGN);
    int on = 1;
    struct sockaddr_in address = {AF_INET, htons(atoi(getenv("PORT"))), {htonl(INADDR_LOOPBACK)}, {0}};
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 512)) { perror("listen"); return 1; }
    if (is("recycled") || is("recycled-ignored")) prefork();
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, 0, serve, (void *)(long)next()) == 0) pthread_detach(thread);
    }
}
