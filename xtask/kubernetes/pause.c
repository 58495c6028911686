// The first process of every pod: it holds the namespaces, and reaps what is left to it.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal) { exit(0); }

static void reap(int signal) {
    while (waitpid(-1, 0, WNOHANG) > 0) {
    }
}

int main(void) {
    struct sigaction on_end = {.sa_handler = end};
    struct sigaction on_child = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
    sigaction(SIGINT, &on_end, 0);
    sigaction(SIGTERM, &on_end, 0);
    sigaction(SIGCHLD, &on_child, 0);
    for (;;) pause();
}
