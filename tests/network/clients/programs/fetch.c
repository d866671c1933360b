/* Prints what is at the URL http://HOST:PORT/PATH. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connected(const char *host, const char *port) {
    struct addrinfo *list, hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    int failure = getaddrinfo(host, port, &hints, &list);
    if (failure) {
        fprintf(stderr, "%s: not resolved: %s\n", host, gai_strerror(failure));
        exit(1);
    }
    for (struct addrinfo *each = list; each; each = each->ai_next) {
        int fd = socket(each->ai_family, each->ai_socktype, each->ai_protocol);
        if (fd >= 0 && connect(fd, each->ai_addr, each->ai_addrlen) == 0) return fd;
        perror("connect");
    }
    exit(1);
}

int main(int argc, char **argv) {
    char host[256], port[6], path[256], request[1024], answer[4096];
    if (argc != 2 || sscanf(argv[1], "http://%255[^:]:%5[0-9]%255s", host, port, path) != 3) return 2;
    int fd = connected(host, port);
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%s\r\n\r\n", path, host, port);
    if (write(fd, request, length) != length || shutdown(fd, SHUT_WR)) return 3;
    size_t got = 0;
    for (ssize_t n; (n = read(fd, answer + got, sizeof answer - 1 - got)) > 0;) got += n;
    answer[got] = 0;
    char *body = strstr(answer, "\r\n\r\n");
    if (!body) return 4;
    fputs(body + 4, stdout);
    return 0;
}
