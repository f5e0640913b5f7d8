/* messages decodes messages of a made-up protocol and adds up what they hold.
 *
 * The decoders are generated, one for each kind of message, and are like those
 * of real protocols: long numbers, formats of old versions, and values that are
 * not allowed take most of their code and nearly none of their time. A compiler
 * that does not know this puts it all in a line, so that the code that runs is
 * spread over three times as much cache as it needs; and calls through a
 * pointer what is always the same function. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
    const unsigned char *start, *at, *end; /* PADDING more bytes can be read */
};

/* A value that is not allowed. */
struct problem {
    int message, field;
    const char *name;
    long offset;
    uint64_t value, most;
};

enum { PADDING = 16, PROBLEMS = 64, FIELDS = 8 };

/* A sink takes what decoders find. */
struct sink {
    const struct sink_type *type;
    int version, strict; /* of the protocol; whether to give up a message with a problem */
    uint64_t sum, weight, texts, missing, ends;
    uint64_t converted, found, cut, worst;
    struct problem problems[PROBLEMS];
};

struct sink_type {
    void (*number)(struct sink *, int field, uint64_t v);
    void (*text)(struct sink *, int field, const unsigned char *p, uint64_t n);
    void (*missing)(struct sink *, int field);
    void (*end)(struct sink *, int message);
};

enum kind { NUMBER, PRICE, FIXED, TEXT };

struct message {
    int (*decode)(struct input *, struct sink *);
    const char *name;
    int count;
    struct {
        enum kind kind;
        unsigned most;
        int present; /* per cent */
    } fields[FIELDS];
};

#define INLINE static inline __attribute__((always_inline))

/* A value, and where the next one begins. */
struct value {
    uint64_t v;
    const unsigned char *next;
};

/* Version 1 had packed decimal digits. */
INLINE uint64_t from_digits(struct sink *s, uint64_t v) {
    s->converted++;
    return (v & 15) + (v >> 4 & 15) * 10 + (v >> 8 & 15) * 100 + (v >> 12 & 15) * 1000 + (v >> 16 & 15) * 10000;
}

/* The rest of a number of more than four bytes: of nine at most. */
static struct value read_long(const unsigned char *p, uint64_t v) {
    for (int shift = 28; shift < 63; shift += 7) {
        v += ((uint64_t)*p << shift) - (1ull << shift);
        if (*p++ < 0x80)
            break;
    }
    return (struct value){v, p};
}

/* Seven bits a byte, the lowest first; all bytes but the last have the highest
 * bit set, and count 128 too much. */
INLINE struct value read_number(struct sink *s, const unsigned char *p) {
    struct value x = {p[0], p + 1};
    if (x.v >= 0x80) {
        x = (struct value){x.v + ((uint64_t)p[1] << 7) - (1 << 7), p + 2};
        if (p[1] >= 0x80) {
            x = (struct value){x.v + ((uint64_t)p[2] << 14) - (1 << 14), p + 3};
            if (p[2] >= 0x80) {
                x = (struct value){x.v + ((uint64_t)p[3] << 21) - (1 << 21), p + 4};
                if (p[3] >= 0x80)
                    x = read_long(p + 4, x.v);
            }
        }
    }
    if (s->version < 2)
        x.v = from_digits(s, x.v);
    return x;
}

/* A number whose lowest bit is its sign; in version 2 the highest of 32 bits was. */
INLINE struct value read_price(struct sink *s, const unsigned char *p) {
    struct value x = read_number(s, p);
    if (s->version < 3) {
        s->converted++;
        x.v = x.v & 0x80000000 ? (x.v & 0x7fffffff) * 2 + 1 : x.v * 2;
    }
    x.v = x.v & 1 ? 0 : x.v >> 1; /* debts are not counted */
    return x;
}

/* Four bytes, the lowest first; before version 3 the highest first. */
INLINE struct value read_fixed(struct sink *s, const unsigned char *p) {
    struct value x = {p[0] | p[1] << 8 | p[2] << 16 | (uint64_t)p[3] << 24, p + 4};
    if (s->version < 3) {
        s->converted++;
        x.v = x.v >> 24 | (x.v >> 8 & 0xff00) | (x.v << 8 & 0xff0000) | (x.v << 24 & 0xff000000);
    }
    return x;
}

/* The length of a text. */
INLINE struct value read_text(struct sink *s, const unsigned char *p) { return read_number(s, p); }

/* Notes a value that is not allowed, and takes the greatest one instead. */
INLINE struct value too_great(const struct input *in, struct sink *s, struct value x, int message, int field,
                              const char *name, uint64_t most) {
    struct problem *q = &s->problems[s->found++ % PROBLEMS];
    q->message = message;
    q->field = field;
    q->name = name;
    q->offset = x.next - in->start;
    q->value = x.v;
    q->most = most;
    if (s->worst < x.v - most)
        s->worst = x.v - most;
    return (struct value){most, x.next};
}

/* Gives up a message, and what is behind it. */
static __attribute__((noinline)) int cut(struct input *in, struct sink *s, const unsigned char *p, int message, int field) {
    s->problems[s->found++ % PROBLEMS] = (struct problem){message, field, "cut", p - in->start, 0, 0};
    s->cut++;
    in->at = in->end;
    return 0;
}

#include "decoders.h"

/* The sink that adds up. */
static void add_number(struct sink *s, int field, uint64_t v) {
    s->sum += v * (unsigned)(field + 1);
    s->weight += (unsigned)field;
}

static void add_text(struct sink *s, int field, const unsigned char *p, uint64_t n) {
    uint64_t h = (unsigned)field;
    for (uint64_t k = 0; k < n; k++)
        h = h * 31 + p[k];
    s->texts += h;
}

static void add_missing(struct sink *s, int field) { s->missing += (unsigned)field; }

static void add_end(struct sink *s, int message) { s->ends += (unsigned)message; }

static const struct sink_type adding = {add_number, add_text, add_missing, add_end};

/* The sink that prints. */
static void print_number(struct sink *s, int field, uint64_t v) {
    s->sum++;
    printf("%d=%llu ", field, (unsigned long long)v);
}

static void print_text(struct sink *s, int field, const unsigned char *p, uint64_t n) {
    s->texts++;
    printf("%d=%.*s ", field, (int)n, p);
}

static void print_missing(struct sink *s, int field) {
    s->missing++;
    printf("%d ", field);
}

static void print_end(struct sink *s, int message) {
    s->ends++;
    printf("%s\n", messages[message].name);
}

static const struct sink_type printing = {print_number, print_text, print_missing, print_end};

/* Writing of messages. */
static unsigned draw(unsigned below) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % below);
}

static unsigned char *write_number(unsigned char *p, uint64_t v) {
    for (; v >= 0x80; v >>= 7)
        *p++ = (unsigned char)(v | 0x80);
    *p++ = (unsigned char)v;
    return p;
}

/* A value of one byte or of two, as is usual for the field; seldom any. */
static unsigned usual(int message, int field, unsigned most) {
    if (draw(2000) == 0)
        return draw(most + most / 4);
    return (message + field) % 3 == 0 && most > 4096 ? 128 + draw(4096 - 128) : draw(most < 128 ? most : 128);
}

static unsigned char *write_message(unsigned char *p, int number) {
    const struct message *m = &messages[number];
    *p++ = (unsigned char)number;
    unsigned char *present = p++;
    *present = 0;
    for (int k = 0; k < m->count; k++) {
        if (draw(100) >= (unsigned)m->fields[k].present)
            continue;
        *present |= 1 << k;
        unsigned v = usual(number, k, m->fields[k].most);
        switch (m->fields[k].kind) {
        case NUMBER:
            p = write_number(p, v);
            break;
        case PRICE:
            p = write_number(p, v * 2);
            break;
        case FIXED:
            for (int shift = 0; shift < 32; shift += 8)
                *p++ = (unsigned char)(v >> shift);
            break;
        case TEXT:
            p = write_number(p, 6);
            for (int n = 0; n < 6; n++)
                *p++ = 'A' + draw(26);
            break;
        }
    }
    return p;
}

/* Two kinds of three occur, in conversations of a fixed course. */
enum { KINDS = sizeof messages / sizeof *messages, CONVERSATIONS = KINDS / 12, LENGTH = 8, TALKS = 500 };

static unsigned char *write_conversation(unsigned char *p) {
    int first = (int)draw(CONVERSATIONS) * LENGTH;
    for (int n = 0; n < LENGTH; n++)
        p = write_message(p, (first + n) * 37 % (CONVERSATIONS * LENGTH) * 3 / 2);
    return p;
}

int main(int argc, char **argv) {
    long passes = argc > 1 ? atol(argv[1]) : 3000;
    struct sink *s = calloc(1, sizeof *s);
    unsigned char *text = calloc(TALKS * LENGTH, 2 + FIELDS * PADDING), *end = text;
    if (!s || !text)
        return 1;
    s->type = argc > 2 ? &printing : &adding;
    s->version = 3;
    for (int k = 0; k < TALKS; k++)
        end = write_conversation(end);
    for (long k = 0; k < passes; k++) {
        struct input in = {text, text, end};
        while (in.at < in.end) {
            int kind = *in.at++;
            messages[kind].decode(&in, s);
        }
    }
    printf("%ld messages: %llu, %llu, %llu, %llu, %llu; %llu problems\n", passes * TALKS * LENGTH,
           (unsigned long long)s->sum, (unsigned long long)s->weight, (unsigned long long)s->texts,
           (unsigned long long)s->missing, (unsigned long long)s->ends, (unsigned long long)s->found);
    free(text);
    free(s);
    return 0;
}
