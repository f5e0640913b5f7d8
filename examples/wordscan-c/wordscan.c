/* wordscan counts the words of a made-up text, which it reads byte by byte
 * through a pointer to a function, as parsers of streams do. A profile tells
 * the compiler which reader is behind the pointer, so that it can put the code
 * of the reader in place of the calls, and which cases are rare. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    int (*get)(struct reader *); /* the next byte, -1 at the end */
    const unsigned char *at, *end;
    unsigned char pending;
    long lines;
};

static int get_memory(struct reader *r) {
    if (r->at == r->end)
        return -1;
    return *r->at++;
}

/* Bytes of which 0x7d begins a pair: the second one is turned by 0x20. */
static int get_stuffed(struct reader *r) {
    int c = get_memory(r);
    if (c == 0x7d && (c = get_memory(r)) >= 0)
        c ^= 0x20;
    return c;
}

static int get_counting(struct reader *r) {
    int c = get_memory(r);
    if (c == '\n')
        r->lines++;
    return c;
}

static int (*const readers[])(struct reader *) = {get_memory, get_stuffed, get_counting};

struct table {
    uint32_t counts[1 << 12];
    long words, numbers, others;
};

static uint32_t mix(uint32_t hash, int c) { return (hash ^ (uint32_t)c) * 16777619u; }

static void add(struct table *t, uint32_t hash) {
    t->counts[hash >> 20]++;
    t->words++;
}

static void number(struct reader *r, struct table *t, int c) {
    long v = 0;
    for (; c >= '0' && c <= '9'; c = r->get(r))
        v = v * 10 + (c - '0');
    t->numbers += v & 1;
}

static void scan(struct reader *r, struct table *t) {
    uint32_t hash = 2166136261u;
    int inside = 0;
    for (int c; (c = r->get(r)) >= 0;) {
        if (c >= '0' && c <= '9') {
            number(r, t, c);
        } else if (c >= 'A' && c <= 'Z') {
            hash = mix(hash, c + 32);
            inside = 1;
        } else if (c >= 'a' && c <= 'z') {
            hash = mix(hash, c);
            inside = 1;
        } else if (inside) {
            add(t, hash);
            hash = 2166136261u;
            inside = 0;
        } else {
            t->others++;
        }
    }
    if (inside)
        add(t, hash);
}

static const char *const vocabulary[] = {
    "the", "of", "and", "to", "in", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on", "not",
    "he", "his", "but", "at", "are", "this", "have", "from", "or", "had", "an", "they", "which", "one", "you",
    "were", "all", "her", "she", "there", "would", "their", "we", "him", "been", "has", "when", "who", "will",
    "more", "no", "if", "out", "so", "said", "what", "about", "than", "into", "them", "can", "only", "other",
};

static unsigned char *write_text(unsigned char *p, long words) {
    uint64_t r = 1;
    while (words-- > 0) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        const char *w = vocabulary[(r >> 33) % (sizeof vocabulary / sizeof *vocabulary)];
        size_t n = strlen(w);
        memcpy(p, w, n);
        p += n;
        *p++ = (unsigned char)" \n,"[(r >> 60) % 3];
        if ((r >> 20 & 1023) == 0)
            *p++ = '7';
    }
    return p;
}

int main(int argc, char **argv) {
    long passes = argc > 1 ? atol(argv[1]) : 200, words = 100000;
    unsigned char *text = malloc((size_t)words * 8);
    struct table *t = calloc(1, sizeof *t);
    if (!text || !t)
        return 1;
    unsigned char *end = write_text(text, words);
    for (long i = 0; i < passes; i++) {
        struct reader r = {readers[i % 32 == 7 ? 1 : i % 32 == 19 ? 2 : 0], text, end, 0, 0};
        scan(&r, t);
    }
    printf("%ld words, %ld odd numbers, %ld others\n", t->words, t->numbers, t->others);
    free(text);
    free(t);
    return 0;
}
