/* collatz finds the number below a limit whose Collatz chain is longest. It is
 * the program of the demonstration: small, with two hot loops and a table that
 * makes branches go both ways. */
#include <stdio.h>
#include <stdlib.h>

#define KNOWN 4096

static unsigned short length_of[KNOWN];

static unsigned chain(unsigned long n) {
    unsigned steps = 1;
    while (n != 1) {
        if (n < KNOWN && length_of[n]) return steps + length_of[n] - 1;
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

int main(int argc, char **argv) {
    unsigned long limit = argc > 1 ? strtoul(argv[1], 0, 0) : 5000, best = 1;
    unsigned longest = 1;
    for (unsigned long n = 1; n < limit; n++) {
        unsigned steps = chain(n);
        if (n < KNOWN) length_of[n] = (unsigned short)steps;
        if (steps > longest) {
            longest = steps;
            best = n;
        }
    }
    printf("%lu has a chain of %u numbers\n", best, longest);
    return 0;
}
