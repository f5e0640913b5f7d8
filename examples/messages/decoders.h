/* Made by gen. */

static int decode_account_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 0, 0);
        if (x.v > 43850) {
            if (s->strict)
                return cut(in, s, p, 0, 0);
            x = too_great(in, s, x, 0, 0, "batch", 43850);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 0, 1);
        if (x.v > 482946) {
            if (s->strict)
                return cut(in, s, p, 0, 1);
            x = too_great(in, s, x, 0, 1, "limit", 482946);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 0, 2);
        if (x.v > 1048576) {
            if (s->strict)
                return cut(in, s, p, 0, 2);
            x = too_great(in, s, x, 0, 2, "quantity", 1048576);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 0, 3);
        if (x.v > 1032548) {
            if (s->strict)
                return cut(in, s, p, 0, 3);
            x = too_great(in, s, x, 0, 3, "route", 1032548);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 0, 4);
        if (x.v > 881652) {
            if (s->strict)
                return cut(in, s, p, 0, 4);
            x = too_great(in, s, x, 0, 4, "time", 881652);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 0, 5);
        if (x.v > 27960) {
            if (s->strict)
                return cut(in, s, p, 0, 5);
            x = too_great(in, s, x, 0, 5, "venue", 27960);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 0);
    return 1;
}

static int decode_account_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 1, 0);
        if (x.v > 56262) {
            if (s->strict)
                return cut(in, s, p, 1, 0);
            x = too_great(in, s, x, 1, 0, "side", 56262);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 1, 1);
        if (x.v > 20) {
            if (s->strict)
                return cut(in, s, p, 1, 1);
            x = too_great(in, s, x, 1, 1, "total", 20);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 1, 1);
        s->type->text(s, 1, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 1, 2);
        if (x.v > 4194304) {
            if (s->strict)
                return cut(in, s, p, 1, 2);
            x = too_great(in, s, x, 1, 2, "amount", 4194304);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 1, 3);
        if (x.v > 974852) {
            if (s->strict)
                return cut(in, s, p, 1, 3);
            x = too_great(in, s, x, 1, 3, "ask", 974852);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 1, 4);
        if (x.v > 5822) {
            if (s->strict)
                return cut(in, s, p, 1, 4);
            x = too_great(in, s, x, 1, 4, "price", 5822);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 1, 5);
        if (x.v > 681156) {
            if (s->strict)
                return cut(in, s, p, 1, 5);
            x = too_great(in, s, x, 1, 5, "reference", 681156);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 1);
    return 1;
}

static int decode_account_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 2, 0);
        if (x.v > 763296) {
            if (s->strict)
                return cut(in, s, p, 2, 0);
            x = too_great(in, s, x, 2, 0, "reference", 763296);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 2, 1);
        if (x.v > 56152) {
            if (s->strict)
                return cut(in, s, p, 2, 1);
            x = too_great(in, s, x, 2, 1, "strike", 56152);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 2, 2);
        if (x.v > 8966) {
            if (s->strict)
                return cut(in, s, p, 2, 2);
            x = too_great(in, s, x, 2, 2, "unit", 8966);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 2, 3);
        if (x.v > 28) {
            if (s->strict)
                return cut(in, s, p, 2, 3);
            x = too_great(in, s, x, 2, 3, "batch", 28);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 2, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 2, 4);
        if (x.v > 20876) {
            if (s->strict)
                return cut(in, s, p, 2, 4);
            x = too_great(in, s, x, 2, 4, "limit", 20876);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 2);
    return 1;
}

static int decode_account_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 3, 0);
        if (x.v > 43181) {
            if (s->strict)
                return cut(in, s, p, 3, 0);
            x = too_great(in, s, x, 3, 0, "price", 43181);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 3, 1);
        if (x.v > 40601) {
            if (s->strict)
                return cut(in, s, p, 3, 1);
            x = too_great(in, s, x, 3, 1, "reference", 40601);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 3, 2);
        if (x.v > 56599) {
            if (s->strict)
                return cut(in, s, p, 3, 2);
            x = too_great(in, s, x, 3, 2, "strike", 56599);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 3, 3);
        if (x.v > 284175) {
            if (s->strict)
                return cut(in, s, p, 3, 3);
            x = too_great(in, s, x, 3, 3, "unit", 284175);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 3, 4);
        if (x.v > 29525) {
            if (s->strict)
                return cut(in, s, p, 3, 4);
            x = too_great(in, s, x, 3, 4, "batch", 29525);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 3, 5);
        if (x.v > 1256) {
            if (s->strict)
                return cut(in, s, p, 3, 5);
            x = too_great(in, s, x, 3, 5, "limit", 1256);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 3, 6);
        if (x.v > 27411) {
            if (s->strict)
                return cut(in, s, p, 3, 6);
            x = too_great(in, s, x, 3, 6, "quantity", 27411);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 3, 7);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 3, 7);
            x = too_great(in, s, x, 3, 7, "route", 524288);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 3);
    return 1;
}

static int decode_account_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 4, 0);
        if (x.v > 268435456) {
            if (s->strict)
                return cut(in, s, p, 4, 0);
            x = too_great(in, s, x, 4, 0, "time", 268435456);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 4, 1);
        if (x.v > 30) {
            if (s->strict)
                return cut(in, s, p, 4, 1);
            x = too_great(in, s, x, 4, 1, "venue", 30);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 4, 1);
        s->type->text(s, 1, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 4, 2);
        if (x.v > 23) {
            if (s->strict)
                return cut(in, s, p, 4, 2);
            x = too_great(in, s, x, 4, 2, "bid", 23);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 4, 2);
        s->type->text(s, 2, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 4, 3);
        if (x.v > 16777216) {
            if (s->strict)
                return cut(in, s, p, 4, 3);
            x = too_great(in, s, x, 4, 3, "owner", 16777216);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 4, 4);
        if (x.v > 1407) {
            if (s->strict)
                return cut(in, s, p, 4, 4);
            x = too_great(in, s, x, 4, 4, "rate", 1407);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 4, 5);
        if (x.v > 16777216) {
            if (s->strict)
                return cut(in, s, p, 4, 5);
            x = too_great(in, s, x, 4, 5, "side", 16777216);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 4, 6);
        if (x.v > 293622) {
            if (s->strict)
                return cut(in, s, p, 4, 6);
            x = too_great(in, s, x, 4, 6, "total", 293622);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 4);
    return 1;
}

static int decode_account_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 5, 0);
        if (x.v > 57808) {
            if (s->strict)
                return cut(in, s, p, 5, 0);
            x = too_great(in, s, x, 5, 0, "price", 57808);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 5, 1);
        if (x.v > 11) {
            if (s->strict)
                return cut(in, s, p, 5, 1);
            x = too_great(in, s, x, 5, 1, "reference", 11);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 5, 1);
        s->type->text(s, 1, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 5, 2);
        if (x.v > 2097152) {
            if (s->strict)
                return cut(in, s, p, 5, 2);
            x = too_great(in, s, x, 5, 2, "strike", 2097152);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 5, 3);
        if (x.v > 11341) {
            if (s->strict)
                return cut(in, s, p, 5, 3);
            x = too_great(in, s, x, 5, 3, "unit", 11341);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 5, 4);
        if (x.v > 19680) {
            if (s->strict)
                return cut(in, s, p, 5, 4);
            x = too_great(in, s, x, 5, 4, "batch", 19680);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 5, 5);
        if (x.v > 2097152) {
            if (s->strict)
                return cut(in, s, p, 5, 5);
            x = too_great(in, s, x, 5, 5, "limit", 2097152);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 5, 6);
        if (x.v > 726336) {
            if (s->strict)
                return cut(in, s, p, 5, 6);
            x = too_great(in, s, x, 5, 6, "quantity", 726336);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 5, 7);
        if (x.v > 33960) {
            if (s->strict)
                return cut(in, s, p, 5, 7);
            x = too_great(in, s, x, 5, 7, "route", 33960);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 5);
    return 1;
}

static int decode_account_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 6, 0);
        if (x.v > 25850) {
            if (s->strict)
                return cut(in, s, p, 6, 0);
            x = too_great(in, s, x, 6, 0, "unit", 25850);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 6, 1);
        if (x.v > 837087) {
            if (s->strict)
                return cut(in, s, p, 6, 1);
            x = too_great(in, s, x, 6, 1, "batch", 837087);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 6, 2);
        if (x.v > 16024) {
            if (s->strict)
                return cut(in, s, p, 6, 2);
            x = too_great(in, s, x, 6, 2, "limit", 16024);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 6, 3);
        if (x.v > 15817) {
            if (s->strict)
                return cut(in, s, p, 6, 3);
            x = too_great(in, s, x, 6, 3, "quantity", 15817);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 6, 4);
        if (x.v > 49382) {
            if (s->strict)
                return cut(in, s, p, 6, 4);
            x = too_great(in, s, x, 6, 4, "route", 49382);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 6, 5);
        if (x.v > 623285) {
            if (s->strict)
                return cut(in, s, p, 6, 5);
            x = too_great(in, s, x, 6, 5, "time", 623285);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 6, 6);
        if (x.v > 23741) {
            if (s->strict)
                return cut(in, s, p, 6, 6);
            x = too_great(in, s, x, 6, 6, "venue", 23741);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 6, 7);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 6, 7);
            x = too_great(in, s, x, 6, 7, "bid", 524288);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 6);
    return 1;
}

static int decode_account_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 7, 0);
        if (x.v > 20909) {
            if (s->strict)
                return cut(in, s, p, 7, 0);
            x = too_great(in, s, x, 7, 0, "reference", 20909);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 7, 1);
        if (x.v > 61146) {
            if (s->strict)
                return cut(in, s, p, 7, 1);
            x = too_great(in, s, x, 7, 1, "strike", 61146);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 7, 2);
        if (x.v > 1038883) {
            if (s->strict)
                return cut(in, s, p, 7, 2);
            x = too_great(in, s, x, 7, 2, "unit", 1038883);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 7, 3);
        if (x.v > 20670) {
            if (s->strict)
                return cut(in, s, p, 7, 3);
            x = too_great(in, s, x, 7, 3, "batch", 20670);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 7, 4);
        if (x.v > 16) {
            if (s->strict)
                return cut(in, s, p, 7, 4);
            x = too_great(in, s, x, 7, 4, "limit", 16);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 7, 4);
        s->type->text(s, 4, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 7, 5);
        if (x.v > 14376) {
            if (s->strict)
                return cut(in, s, p, 7, 5);
            x = too_great(in, s, x, 7, 5, "quantity", 14376);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 7, 6);
        if (x.v > 109811) {
            if (s->strict)
                return cut(in, s, p, 7, 6);
            x = too_great(in, s, x, 7, 6, "route", 109811);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 7, 7);
        if (x.v > 10229) {
            if (s->strict)
                return cut(in, s, p, 7, 7);
            x = too_great(in, s, x, 7, 7, "time", 10229);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 7);
    return 1;
}

static int decode_basket_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 8, 0);
        if (x.v > 718335) {
            if (s->strict)
                return cut(in, s, p, 8, 0);
            x = too_great(in, s, x, 8, 0, "route", 718335);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 8, 1);
        if (x.v > 18872) {
            if (s->strict)
                return cut(in, s, p, 8, 1);
            x = too_great(in, s, x, 8, 1, "time", 18872);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 8, 2);
        if (x.v > 14) {
            if (s->strict)
                return cut(in, s, p, 8, 2);
            x = too_great(in, s, x, 8, 2, "venue", 14);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 8, 2);
        s->type->text(s, 2, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 8, 3);
        if (x.v > 504) {
            if (s->strict)
                return cut(in, s, p, 8, 3);
            x = too_great(in, s, x, 8, 3, "bid", 504);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 8, 4);
        if (x.v > 17) {
            if (s->strict)
                return cut(in, s, p, 8, 4);
            x = too_great(in, s, x, 8, 4, "owner", 17);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 8, 4);
        s->type->text(s, 4, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 8, 5);
        if (x.v > 26) {
            if (s->strict)
                return cut(in, s, p, 8, 5);
            x = too_great(in, s, x, 8, 5, "rate", 26);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 8, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 8, 6);
        if (x.v > 20807) {
            if (s->strict)
                return cut(in, s, p, 8, 6);
            x = too_great(in, s, x, 8, 6, "side", 20807);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 8);
    return 1;
}

static int decode_basket_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 9, 0);
        if (x.v > 48636) {
            if (s->strict)
                return cut(in, s, p, 9, 0);
            x = too_great(in, s, x, 9, 0, "unit", 48636);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 9, 1);
        if (x.v > 134217728) {
            if (s->strict)
                return cut(in, s, p, 9, 1);
            x = too_great(in, s, x, 9, 1, "batch", 134217728);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 9, 2);
        if (x.v > 1048576) {
            if (s->strict)
                return cut(in, s, p, 9, 2);
            x = too_great(in, s, x, 9, 2, "limit", 1048576);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 9, 3);
        if (x.v > 392918) {
            if (s->strict)
                return cut(in, s, p, 9, 3);
            x = too_great(in, s, x, 9, 3, "quantity", 392918);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 9, 4);
        if (x.v > 4194304) {
            if (s->strict)
                return cut(in, s, p, 9, 4);
            x = too_great(in, s, x, 9, 4, "route", 4194304);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 9, 5);
        if (x.v > 2097152) {
            if (s->strict)
                return cut(in, s, p, 9, 5);
            x = too_great(in, s, x, 9, 5, "time", 2097152);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 9, 6);
        if (x.v > 19) {
            if (s->strict)
                return cut(in, s, p, 9, 6);
            x = too_great(in, s, x, 9, 6, "venue", 19);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 9, 6);
        s->type->text(s, 6, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 9, 7);
        if (x.v > 8110) {
            if (s->strict)
                return cut(in, s, p, 9, 7);
            x = too_great(in, s, x, 9, 7, "bid", 8110);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 9);
    return 1;
}

static int decode_basket_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 10, 0);
        if (x.v > 31455) {
            if (s->strict)
                return cut(in, s, p, 10, 0);
            x = too_great(in, s, x, 10, 0, "reference", 31455);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 10, 1);
        if (x.v > 8388608) {
            if (s->strict)
                return cut(in, s, p, 10, 1);
            x = too_great(in, s, x, 10, 1, "strike", 8388608);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 10, 2);
        if (x.v > 814913) {
            if (s->strict)
                return cut(in, s, p, 10, 2);
            x = too_great(in, s, x, 10, 2, "unit", 814913);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 10, 3);
        if (x.v > 2097152) {
            if (s->strict)
                return cut(in, s, p, 10, 3);
            x = too_great(in, s, x, 10, 3, "batch", 2097152);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 10, 4);
        if (x.v > 63601) {
            if (s->strict)
                return cut(in, s, p, 10, 4);
            x = too_great(in, s, x, 10, 4, "limit", 63601);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 10, 5);
        if (x.v > 24344) {
            if (s->strict)
                return cut(in, s, p, 10, 5);
            x = too_great(in, s, x, 10, 5, "quantity", 24344);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 10, 6);
        if (x.v > 1044774) {
            if (s->strict)
                return cut(in, s, p, 10, 6);
            x = too_great(in, s, x, 10, 6, "route", 1044774);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 10);
    return 1;
}

static int decode_basket_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 11, 0);
        if (x.v > 251958) {
            if (s->strict)
                return cut(in, s, p, 11, 0);
            x = too_great(in, s, x, 11, 0, "unit", 251958);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 11, 1);
        if (x.v > 144959) {
            if (s->strict)
                return cut(in, s, p, 11, 1);
            x = too_great(in, s, x, 11, 1, "batch", 144959);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 11, 2);
        if (x.v > 49929) {
            if (s->strict)
                return cut(in, s, p, 11, 2);
            x = too_great(in, s, x, 11, 2, "limit", 49929);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 11, 3);
        if (x.v > 25) {
            if (s->strict)
                return cut(in, s, p, 11, 3);
            x = too_great(in, s, x, 11, 3, "quantity", 25);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 11, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 11, 4);
        if (x.v > 14) {
            if (s->strict)
                return cut(in, s, p, 11, 4);
            x = too_great(in, s, x, 11, 4, "route", 14);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 11, 4);
        s->type->text(s, 4, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 11, 5);
        if (x.v > 30) {
            if (s->strict)
                return cut(in, s, p, 11, 5);
            x = too_great(in, s, x, 11, 5, "time", 30);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 11, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 11);
    return 1;
}

static int decode_basket_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 12, 0);
        if (x.v > 7732) {
            if (s->strict)
                return cut(in, s, p, 12, 0);
            x = too_great(in, s, x, 12, 0, "amount", 7732);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 12, 1);
        if (x.v > 264650) {
            if (s->strict)
                return cut(in, s, p, 12, 1);
            x = too_great(in, s, x, 12, 1, "ask", 264650);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 12, 2);
        if (x.v > 38832) {
            if (s->strict)
                return cut(in, s, p, 12, 2);
            x = too_great(in, s, x, 12, 2, "price", 38832);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 12, 3);
        if (x.v > 26100) {
            if (s->strict)
                return cut(in, s, p, 12, 3);
            x = too_great(in, s, x, 12, 3, "reference", 26100);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 12, 4);
        if (x.v > 51541) {
            if (s->strict)
                return cut(in, s, p, 12, 4);
            x = too_great(in, s, x, 12, 4, "strike", 51541);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 12, 5);
        if (x.v > 338957) {
            if (s->strict)
                return cut(in, s, p, 12, 5);
            x = too_great(in, s, x, 12, 5, "unit", 338957);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 12, 6);
        if (x.v > 49287) {
            if (s->strict)
                return cut(in, s, p, 12, 6);
            x = too_great(in, s, x, 12, 6, "batch", 49287);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 12, 7);
        if (x.v > 67108864) {
            if (s->strict)
                return cut(in, s, p, 12, 7);
            x = too_great(in, s, x, 12, 7, "limit", 67108864);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 12);
    return 1;
}

static int decode_basket_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 13, 0);
        if (x.v > 536870912) {
            if (s->strict)
                return cut(in, s, p, 13, 0);
            x = too_great(in, s, x, 13, 0, "side", 536870912);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 13, 1);
        if (x.v > 2077) {
            if (s->strict)
                return cut(in, s, p, 13, 1);
            x = too_great(in, s, x, 13, 1, "total", 2077);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 13, 2);
        if (x.v > 430545) {
            if (s->strict)
                return cut(in, s, p, 13, 2);
            x = too_great(in, s, x, 13, 2, "amount", 430545);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 13, 3);
        if (x.v > 536870912) {
            if (s->strict)
                return cut(in, s, p, 13, 3);
            x = too_great(in, s, x, 13, 3, "ask", 536870912);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 13, 4);
        if (x.v > 2582) {
            if (s->strict)
                return cut(in, s, p, 13, 4);
            x = too_great(in, s, x, 13, 4, "price", 2582);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 13);
    return 1;
}

static int decode_basket_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 14, 0);
        if (x.v > 45731) {
            if (s->strict)
                return cut(in, s, p, 14, 0);
            x = too_great(in, s, x, 14, 0, "unit", 45731);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 14, 1);
        if (x.v > 1785) {
            if (s->strict)
                return cut(in, s, p, 14, 1);
            x = too_great(in, s, x, 14, 1, "batch", 1785);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 14, 2);
        if (x.v > 10355) {
            if (s->strict)
                return cut(in, s, p, 14, 2);
            x = too_great(in, s, x, 14, 2, "limit", 10355);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 14, 3);
        if (x.v > 60332) {
            if (s->strict)
                return cut(in, s, p, 14, 3);
            x = too_great(in, s, x, 14, 3, "quantity", 60332);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 14, 4);
        if (x.v > 12458) {
            if (s->strict)
                return cut(in, s, p, 14, 4);
            x = too_great(in, s, x, 14, 4, "route", 12458);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 14, 5);
        if (x.v > 16777216) {
            if (s->strict)
                return cut(in, s, p, 14, 5);
            x = too_great(in, s, x, 14, 5, "time", 16777216);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 14, 6);
        if (x.v > 675130) {
            if (s->strict)
                return cut(in, s, p, 14, 6);
            x = too_great(in, s, x, 14, 6, "venue", 675130);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 14, 7);
        if (x.v > 62683) {
            if (s->strict)
                return cut(in, s, p, 14, 7);
            x = too_great(in, s, x, 14, 7, "bid", 62683);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 14);
    return 1;
}

static int decode_basket_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 15, 0);
        if (x.v > 342555) {
            if (s->strict)
                return cut(in, s, p, 15, 0);
            x = too_great(in, s, x, 15, 0, "total", 342555);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 15, 1);
        if (x.v > 269183) {
            if (s->strict)
                return cut(in, s, p, 15, 1);
            x = too_great(in, s, x, 15, 1, "amount", 269183);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 15, 2);
        if (x.v > 280307) {
            if (s->strict)
                return cut(in, s, p, 15, 2);
            x = too_great(in, s, x, 15, 2, "ask", 280307);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 15, 3);
        if (x.v > 34938) {
            if (s->strict)
                return cut(in, s, p, 15, 3);
            x = too_great(in, s, x, 15, 3, "price", 34938);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 15, 4);
        if (x.v > 64557) {
            if (s->strict)
                return cut(in, s, p, 15, 4);
            x = too_great(in, s, x, 15, 4, "reference", 64557);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 15, 5);
        if (x.v > 8054) {
            if (s->strict)
                return cut(in, s, p, 15, 5);
            x = too_great(in, s, x, 15, 5, "strike", 8054);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 15, 6);
        if (x.v > 268435456) {
            if (s->strict)
                return cut(in, s, p, 15, 6);
            x = too_great(in, s, x, 15, 6, "unit", 268435456);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 15, 7);
        if (x.v > 36895) {
            if (s->strict)
                return cut(in, s, p, 15, 7);
            x = too_great(in, s, x, 15, 7, "batch", 36895);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 15);
    return 1;
}

static int decode_broker_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 16, 0);
        if (x.v > 6807) {
            if (s->strict)
                return cut(in, s, p, 16, 0);
            x = too_great(in, s, x, 16, 0, "rate", 6807);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 16, 1);
        if (x.v > 65111) {
            if (s->strict)
                return cut(in, s, p, 16, 1);
            x = too_great(in, s, x, 16, 1, "side", 65111);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 16, 2);
        if (x.v > 52370) {
            if (s->strict)
                return cut(in, s, p, 16, 2);
            x = too_great(in, s, x, 16, 2, "total", 52370);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 16, 3);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 16, 3);
            x = too_great(in, s, x, 16, 3, "amount", 524288);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 16, 4);
        if (x.v > 134217728) {
            if (s->strict)
                return cut(in, s, p, 16, 4);
            x = too_great(in, s, x, 16, 4, "ask", 134217728);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 16);
    return 1;
}

static int decode_broker_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 17, 0);
        if (x.v > 25048) {
            if (s->strict)
                return cut(in, s, p, 17, 0);
            x = too_great(in, s, x, 17, 0, "rate", 25048);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 17, 1);
        if (x.v > 36926) {
            if (s->strict)
                return cut(in, s, p, 17, 1);
            x = too_great(in, s, x, 17, 1, "side", 36926);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 17, 2);
        if (x.v > 961197) {
            if (s->strict)
                return cut(in, s, p, 17, 2);
            x = too_great(in, s, x, 17, 2, "total", 961197);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 17, 3);
        if (x.v > 16) {
            if (s->strict)
                return cut(in, s, p, 17, 3);
            x = too_great(in, s, x, 17, 3, "amount", 16);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 17, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 17, 4);
        if (x.v > 28) {
            if (s->strict)
                return cut(in, s, p, 17, 4);
            x = too_great(in, s, x, 17, 4, "ask", 28);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 17, 4);
        s->type->text(s, 4, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 17, 5);
        if (x.v > 13911) {
            if (s->strict)
                return cut(in, s, p, 17, 5);
            x = too_great(in, s, x, 17, 5, "price", 13911);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 17, 6);
        if (x.v > 43009) {
            if (s->strict)
                return cut(in, s, p, 17, 6);
            x = too_great(in, s, x, 17, 6, "reference", 43009);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 17, 7);
        if (x.v > 47655) {
            if (s->strict)
                return cut(in, s, p, 17, 7);
            x = too_great(in, s, x, 17, 7, "strike", 47655);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 17);
    return 1;
}

static int decode_broker_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 18, 0);
        if (x.v > 584596) {
            if (s->strict)
                return cut(in, s, p, 18, 0);
            x = too_great(in, s, x, 18, 0, "limit", 584596);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 18, 1);
        if (x.v > 769242) {
            if (s->strict)
                return cut(in, s, p, 18, 1);
            x = too_great(in, s, x, 18, 1, "quantity", 769242);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 18, 2);
        if (x.v > 359163) {
            if (s->strict)
                return cut(in, s, p, 18, 2);
            x = too_great(in, s, x, 18, 2, "route", 359163);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 18, 3);
        if (x.v > 367217) {
            if (s->strict)
                return cut(in, s, p, 18, 3);
            x = too_great(in, s, x, 18, 3, "time", 367217);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 18, 4);
        if (x.v > 816829) {
            if (s->strict)
                return cut(in, s, p, 18, 4);
            x = too_great(in, s, x, 18, 4, "venue", 816829);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 18);
    return 1;
}

static int decode_broker_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 19, 0);
        if (x.v > 5690) {
            if (s->strict)
                return cut(in, s, p, 19, 0);
            x = too_great(in, s, x, 19, 0, "unit", 5690);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 19, 1);
        if (x.v > 8388608) {
            if (s->strict)
                return cut(in, s, p, 19, 1);
            x = too_great(in, s, x, 19, 1, "batch", 8388608);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 19, 2);
        if (x.v > 31) {
            if (s->strict)
                return cut(in, s, p, 19, 2);
            x = too_great(in, s, x, 19, 2, "limit", 31);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 19, 2);
        s->type->text(s, 2, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 19, 3);
        if (x.v > 573769) {
            if (s->strict)
                return cut(in, s, p, 19, 3);
            x = too_great(in, s, x, 19, 3, "quantity", 573769);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 19, 4);
        if (x.v > 61821) {
            if (s->strict)
                return cut(in, s, p, 19, 4);
            x = too_great(in, s, x, 19, 4, "route", 61821);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 19, 5);
        if (x.v > 16619) {
            if (s->strict)
                return cut(in, s, p, 19, 5);
            x = too_great(in, s, x, 19, 5, "time", 16619);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 19);
    return 1;
}

static int decode_broker_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 20, 0);
        if (x.v > 17260) {
            if (s->strict)
                return cut(in, s, p, 20, 0);
            x = too_great(in, s, x, 20, 0, "venue", 17260);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 20, 1);
        if (x.v > 269419) {
            if (s->strict)
                return cut(in, s, p, 20, 1);
            x = too_great(in, s, x, 20, 1, "bid", 269419);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 20, 2);
        if (x.v > 9650) {
            if (s->strict)
                return cut(in, s, p, 20, 2);
            x = too_great(in, s, x, 20, 2, "owner", 9650);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 20, 3);
        if (x.v > 13) {
            if (s->strict)
                return cut(in, s, p, 20, 3);
            x = too_great(in, s, x, 20, 3, "rate", 13);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 20, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 20, 4);
        if (x.v > 4963) {
            if (s->strict)
                return cut(in, s, p, 20, 4);
            x = too_great(in, s, x, 20, 4, "side", 4963);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 20, 5);
        if (x.v > 54557) {
            if (s->strict)
                return cut(in, s, p, 20, 5);
            x = too_great(in, s, x, 20, 5, "total", 54557);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 20, 6);
        if (x.v > 56804) {
            if (s->strict)
                return cut(in, s, p, 20, 6);
            x = too_great(in, s, x, 20, 6, "amount", 56804);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 20);
    return 1;
}

static int decode_broker_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 21, 0);
        if (x.v > 91320) {
            if (s->strict)
                return cut(in, s, p, 21, 0);
            x = too_great(in, s, x, 21, 0, "venue", 91320);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 21, 1);
        if (x.v > 64534) {
            if (s->strict)
                return cut(in, s, p, 21, 1);
            x = too_great(in, s, x, 21, 1, "bid", 64534);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 21, 2);
        if (x.v > 956560) {
            if (s->strict)
                return cut(in, s, p, 21, 2);
            x = too_great(in, s, x, 21, 2, "owner", 956560);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 21, 3);
        if (x.v > 2097152) {
            if (s->strict)
                return cut(in, s, p, 21, 3);
            x = too_great(in, s, x, 21, 3, "rate", 2097152);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 21, 4);
        if (x.v > 134217728) {
            if (s->strict)
                return cut(in, s, p, 21, 4);
            x = too_great(in, s, x, 21, 4, "side", 134217728);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 21);
    return 1;
}

static int decode_broker_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 22, 0);
        if (x.v > 131072) {
            if (s->strict)
                return cut(in, s, p, 22, 0);
            x = too_great(in, s, x, 22, 0, "rate", 131072);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 22, 1);
        if (x.v > 37224) {
            if (s->strict)
                return cut(in, s, p, 22, 1);
            x = too_great(in, s, x, 22, 1, "side", 37224);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 22, 2);
        if (x.v > 4194304) {
            if (s->strict)
                return cut(in, s, p, 22, 2);
            x = too_great(in, s, x, 22, 2, "total", 4194304);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 22, 3);
        if (x.v > 27353) {
            if (s->strict)
                return cut(in, s, p, 22, 3);
            x = too_great(in, s, x, 22, 3, "amount", 27353);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 22, 4);
        if (x.v > 34710) {
            if (s->strict)
                return cut(in, s, p, 22, 4);
            x = too_great(in, s, x, 22, 4, "ask", 34710);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 22, 5);
        if (x.v > 64675) {
            if (s->strict)
                return cut(in, s, p, 22, 5);
            x = too_great(in, s, x, 22, 5, "price", 64675);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 22);
    return 1;
}

static int decode_broker_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 23, 0);
        if (x.v > 25404) {
            if (s->strict)
                return cut(in, s, p, 23, 0);
            x = too_great(in, s, x, 23, 0, "limit", 25404);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 23, 1);
        if (x.v > 51327) {
            if (s->strict)
                return cut(in, s, p, 23, 1);
            x = too_great(in, s, x, 23, 1, "quantity", 51327);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 23, 2);
        if (x.v > 131072) {
            if (s->strict)
                return cut(in, s, p, 23, 2);
            x = too_great(in, s, x, 23, 2, "route", 131072);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 23, 3);
        if (x.v > 1009835) {
            if (s->strict)
                return cut(in, s, p, 23, 3);
            x = too_great(in, s, x, 23, 3, "time", 1009835);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 23, 4);
        if (x.v > 24099) {
            if (s->strict)
                return cut(in, s, p, 23, 4);
            x = too_great(in, s, x, 23, 4, "venue", 24099);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 23, 5);
        if (x.v > 28250) {
            if (s->strict)
                return cut(in, s, p, 23, 5);
            x = too_great(in, s, x, 23, 5, "bid", 28250);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 23);
    return 1;
}

static int decode_deposit_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 24, 0);
        if (x.v > 59704) {
            if (s->strict)
                return cut(in, s, p, 24, 0);
            x = too_great(in, s, x, 24, 0, "bid", 59704);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 24, 1);
        if (x.v > 46045) {
            if (s->strict)
                return cut(in, s, p, 24, 1);
            x = too_great(in, s, x, 24, 1, "owner", 46045);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 24, 2);
        if (x.v > 42144) {
            if (s->strict)
                return cut(in, s, p, 24, 2);
            x = too_great(in, s, x, 24, 2, "rate", 42144);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 24, 3);
        if (x.v > 262144) {
            if (s->strict)
                return cut(in, s, p, 24, 3);
            x = too_great(in, s, x, 24, 3, "side", 262144);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 24, 4);
        if (x.v > 43173) {
            if (s->strict)
                return cut(in, s, p, 24, 4);
            x = too_great(in, s, x, 24, 4, "total", 43173);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 24);
    return 1;
}

static int decode_deposit_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 25, 0);
        if (x.v > 250559) {
            if (s->strict)
                return cut(in, s, p, 25, 0);
            x = too_great(in, s, x, 25, 0, "time", 250559);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 25, 1);
        if (x.v > 23978) {
            if (s->strict)
                return cut(in, s, p, 25, 1);
            x = too_great(in, s, x, 25, 1, "venue", 23978);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 25, 2);
        if (x.v > 25204) {
            if (s->strict)
                return cut(in, s, p, 25, 2);
            x = too_great(in, s, x, 25, 2, "bid", 25204);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 25, 3);
        if (x.v > 342180) {
            if (s->strict)
                return cut(in, s, p, 25, 3);
            x = too_great(in, s, x, 25, 3, "owner", 342180);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 25, 4);
        if (x.v > 12717) {
            if (s->strict)
                return cut(in, s, p, 25, 4);
            x = too_great(in, s, x, 25, 4, "rate", 12717);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 25, 5);
        if (x.v > 27) {
            if (s->strict)
                return cut(in, s, p, 25, 5);
            x = too_great(in, s, x, 25, 5, "side", 27);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 25, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 25, 6);
        if (x.v > 19) {
            if (s->strict)
                return cut(in, s, p, 25, 6);
            x = too_great(in, s, x, 25, 6, "total", 19);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 25, 6);
        s->type->text(s, 6, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 25);
    return 1;
}

static int decode_deposit_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 26, 0);
        if (x.v > 13) {
            if (s->strict)
                return cut(in, s, p, 26, 0);
            x = too_great(in, s, x, 26, 0, "venue", 13);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 26, 0);
        s->type->text(s, 0, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 26, 1);
        if (x.v > 41491) {
            if (s->strict)
                return cut(in, s, p, 26, 1);
            x = too_great(in, s, x, 26, 1, "bid", 41491);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 26, 2);
        if (x.v > 6046) {
            if (s->strict)
                return cut(in, s, p, 26, 2);
            x = too_great(in, s, x, 26, 2, "owner", 6046);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 26, 3);
        if (x.v > 7822) {
            if (s->strict)
                return cut(in, s, p, 26, 3);
            x = too_great(in, s, x, 26, 3, "rate", 7822);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 26, 4);
        if (x.v > 536870912) {
            if (s->strict)
                return cut(in, s, p, 26, 4);
            x = too_great(in, s, x, 26, 4, "side", 536870912);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 26, 5);
        if (x.v > 4757) {
            if (s->strict)
                return cut(in, s, p, 26, 5);
            x = too_great(in, s, x, 26, 5, "total", 4757);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 26, 6);
        if (x.v > 12) {
            if (s->strict)
                return cut(in, s, p, 26, 6);
            x = too_great(in, s, x, 26, 6, "amount", 12);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 26, 6);
        s->type->text(s, 6, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 26);
    return 1;
}

static int decode_deposit_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 27, 0);
        if (x.v > 37154) {
            if (s->strict)
                return cut(in, s, p, 27, 0);
            x = too_great(in, s, x, 27, 0, "time", 37154);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 27, 1);
        if (x.v > 60590) {
            if (s->strict)
                return cut(in, s, p, 27, 1);
            x = too_great(in, s, x, 27, 1, "venue", 60590);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 27, 2);
        if (x.v > 21004) {
            if (s->strict)
                return cut(in, s, p, 27, 2);
            x = too_great(in, s, x, 27, 2, "bid", 21004);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 27, 3);
        if (x.v > 15) {
            if (s->strict)
                return cut(in, s, p, 27, 3);
            x = too_great(in, s, x, 27, 3, "owner", 15);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 27, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 27, 4);
        if (x.v > 49076) {
            if (s->strict)
                return cut(in, s, p, 27, 4);
            x = too_great(in, s, x, 27, 4, "rate", 49076);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 27);
    return 1;
}

static int decode_deposit_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 28, 0);
        if (x.v > 3509) {
            if (s->strict)
                return cut(in, s, p, 28, 0);
            x = too_great(in, s, x, 28, 0, "route", 3509);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 28, 1);
        if (x.v > 35275) {
            if (s->strict)
                return cut(in, s, p, 28, 1);
            x = too_great(in, s, x, 28, 1, "time", 35275);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 28, 2);
        if (x.v > 25773) {
            if (s->strict)
                return cut(in, s, p, 28, 2);
            x = too_great(in, s, x, 28, 2, "venue", 25773);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 28, 3);
        if (x.v > 28456) {
            if (s->strict)
                return cut(in, s, p, 28, 3);
            x = too_great(in, s, x, 28, 3, "bid", 28456);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 28, 4);
        if (x.v > 37583) {
            if (s->strict)
                return cut(in, s, p, 28, 4);
            x = too_great(in, s, x, 28, 4, "owner", 37583);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 28, 5);
        if (x.v > 31) {
            if (s->strict)
                return cut(in, s, p, 28, 5);
            x = too_great(in, s, x, 28, 5, "rate", 31);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 28, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 28, 6);
        if (x.v > 67108864) {
            if (s->strict)
                return cut(in, s, p, 28, 6);
            x = too_great(in, s, x, 28, 6, "side", 67108864);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 28, 7);
        if (x.v > 21) {
            if (s->strict)
                return cut(in, s, p, 28, 7);
            x = too_great(in, s, x, 28, 7, "total", 21);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 28, 7);
        s->type->text(s, 7, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 28);
    return 1;
}

static int decode_deposit_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 29, 0);
        if (x.v > 57949) {
            if (s->strict)
                return cut(in, s, p, 29, 0);
            x = too_great(in, s, x, 29, 0, "time", 57949);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 29, 1);
        if (x.v > 37215) {
            if (s->strict)
                return cut(in, s, p, 29, 1);
            x = too_great(in, s, x, 29, 1, "venue", 37215);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 29, 2);
        if (x.v > 39195) {
            if (s->strict)
                return cut(in, s, p, 29, 2);
            x = too_great(in, s, x, 29, 2, "bid", 39195);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 29, 3);
        if (x.v > 8452) {
            if (s->strict)
                return cut(in, s, p, 29, 3);
            x = too_great(in, s, x, 29, 3, "owner", 8452);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 29, 4);
        if (x.v > 46504) {
            if (s->strict)
                return cut(in, s, p, 29, 4);
            x = too_great(in, s, x, 29, 4, "rate", 46504);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 29, 5);
        if (x.v > 536870912) {
            if (s->strict)
                return cut(in, s, p, 29, 5);
            x = too_great(in, s, x, 29, 5, "side", 536870912);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 29, 6);
        if (x.v > 102715) {
            if (s->strict)
                return cut(in, s, p, 29, 6);
            x = too_great(in, s, x, 29, 6, "total", 102715);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 29);
    return 1;
}

static int decode_deposit_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 30, 0);
        if (x.v > 273836) {
            if (s->strict)
                return cut(in, s, p, 30, 0);
            x = too_great(in, s, x, 30, 0, "side", 273836);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 30, 1);
        if (x.v > 44537) {
            if (s->strict)
                return cut(in, s, p, 30, 1);
            x = too_great(in, s, x, 30, 1, "total", 44537);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 30, 2);
        if (x.v > 18134) {
            if (s->strict)
                return cut(in, s, p, 30, 2);
            x = too_great(in, s, x, 30, 2, "amount", 18134);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 30, 3);
        if (x.v > 737595) {
            if (s->strict)
                return cut(in, s, p, 30, 3);
            x = too_great(in, s, x, 30, 3, "ask", 737595);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 30, 4);
        if (x.v > 2097152) {
            if (s->strict)
                return cut(in, s, p, 30, 4);
            x = too_great(in, s, x, 30, 4, "price", 2097152);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 30, 5);
        if (x.v > 18271) {
            if (s->strict)
                return cut(in, s, p, 30, 5);
            x = too_great(in, s, x, 30, 5, "reference", 18271);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 30);
    return 1;
}

static int decode_deposit_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 31, 0);
        if (x.v > 29396) {
            if (s->strict)
                return cut(in, s, p, 31, 0);
            x = too_great(in, s, x, 31, 0, "unit", 29396);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 31, 1);
        if (x.v > 21419) {
            if (s->strict)
                return cut(in, s, p, 31, 1);
            x = too_great(in, s, x, 31, 1, "batch", 21419);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 31, 2);
        if (x.v > 196457) {
            if (s->strict)
                return cut(in, s, p, 31, 2);
            x = too_great(in, s, x, 31, 2, "limit", 196457);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 31, 3);
        if (x.v > 67108864) {
            if (s->strict)
                return cut(in, s, p, 31, 3);
            x = too_great(in, s, x, 31, 3, "quantity", 67108864);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 31, 4);
        if (x.v > 39080) {
            if (s->strict)
                return cut(in, s, p, 31, 4);
            x = too_great(in, s, x, 31, 4, "route", 39080);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 31, 5);
        if (x.v > 36163) {
            if (s->strict)
                return cut(in, s, p, 31, 5);
            x = too_great(in, s, x, 31, 5, "time", 36163);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 31, 6);
        if (x.v > 31) {
            if (s->strict)
                return cut(in, s, p, 31, 6);
            x = too_great(in, s, x, 31, 6, "venue", 31);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 31, 6);
        s->type->text(s, 6, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 31);
    return 1;
}

static int decode_margin_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 32, 0);
        if (x.v > 45881) {
            if (s->strict)
                return cut(in, s, p, 32, 0);
            x = too_great(in, s, x, 32, 0, "side", 45881);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 32, 1);
        if (x.v > 14247) {
            if (s->strict)
                return cut(in, s, p, 32, 1);
            x = too_great(in, s, x, 32, 1, "total", 14247);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 32, 2);
        if (x.v > 65622) {
            if (s->strict)
                return cut(in, s, p, 32, 2);
            x = too_great(in, s, x, 32, 2, "amount", 65622);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 32, 3);
        if (x.v > 9462) {
            if (s->strict)
                return cut(in, s, p, 32, 3);
            x = too_great(in, s, x, 32, 3, "ask", 9462);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 32, 4);
        if (x.v > 736401) {
            if (s->strict)
                return cut(in, s, p, 32, 4);
            x = too_great(in, s, x, 32, 4, "price", 736401);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 32);
    return 1;
}

static int decode_margin_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 33, 0);
        if (x.v > 10) {
            if (s->strict)
                return cut(in, s, p, 33, 0);
            x = too_great(in, s, x, 33, 0, "ask", 10);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 33, 0);
        s->type->text(s, 0, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 33, 1);
        if (x.v > 478794) {
            if (s->strict)
                return cut(in, s, p, 33, 1);
            x = too_great(in, s, x, 33, 1, "price", 478794);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 33, 2);
        if (x.v > 568) {
            if (s->strict)
                return cut(in, s, p, 33, 2);
            x = too_great(in, s, x, 33, 2, "reference", 568);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 33, 3);
        if (x.v > 31594) {
            if (s->strict)
                return cut(in, s, p, 33, 3);
            x = too_great(in, s, x, 33, 3, "strike", 31594);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 33, 4);
        if (x.v > 57664) {
            if (s->strict)
                return cut(in, s, p, 33, 4);
            x = too_great(in, s, x, 33, 4, "unit", 57664);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 33, 5);
        if (x.v > 13) {
            if (s->strict)
                return cut(in, s, p, 33, 5);
            x = too_great(in, s, x, 33, 5, "batch", 13);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 33, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 33, 6);
        if (x.v > 54580) {
            if (s->strict)
                return cut(in, s, p, 33, 6);
            x = too_great(in, s, x, 33, 6, "limit", 54580);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 33, 7);
        if (x.v > 342063) {
            if (s->strict)
                return cut(in, s, p, 33, 7);
            x = too_great(in, s, x, 33, 7, "quantity", 342063);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 33);
    return 1;
}

static int decode_margin_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 34, 0);
        if (x.v > 161647) {
            if (s->strict)
                return cut(in, s, p, 34, 0);
            x = too_great(in, s, x, 34, 0, "batch", 161647);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 34, 1);
        if (x.v > 889537) {
            if (s->strict)
                return cut(in, s, p, 34, 1);
            x = too_great(in, s, x, 34, 1, "limit", 889537);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 34, 2);
        if (x.v > 5007) {
            if (s->strict)
                return cut(in, s, p, 34, 2);
            x = too_great(in, s, x, 34, 2, "quantity", 5007);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 34, 3);
        if (x.v > 55641) {
            if (s->strict)
                return cut(in, s, p, 34, 3);
            x = too_great(in, s, x, 34, 3, "route", 55641);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 34, 4);
        if (x.v > 35218) {
            if (s->strict)
                return cut(in, s, p, 34, 4);
            x = too_great(in, s, x, 34, 4, "time", 35218);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 34);
    return 1;
}

static int decode_margin_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 35, 0);
        if (x.v > 41906) {
            if (s->strict)
                return cut(in, s, p, 35, 0);
            x = too_great(in, s, x, 35, 0, "ask", 41906);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 35, 1);
        if (x.v > 268435456) {
            if (s->strict)
                return cut(in, s, p, 35, 1);
            x = too_great(in, s, x, 35, 1, "price", 268435456);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 35, 2);
        if (x.v > 44451) {
            if (s->strict)
                return cut(in, s, p, 35, 2);
            x = too_great(in, s, x, 35, 2, "reference", 44451);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 35, 3);
        if (x.v > 26384) {
            if (s->strict)
                return cut(in, s, p, 35, 3);
            x = too_great(in, s, x, 35, 3, "strike", 26384);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 35, 4);
        if (x.v > 536870912) {
            if (s->strict)
                return cut(in, s, p, 35, 4);
            x = too_great(in, s, x, 35, 4, "unit", 536870912);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 35);
    return 1;
}

static int decode_margin_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 36, 0);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 36, 0);
            x = too_great(in, s, x, 36, 0, "strike", 524288);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 36, 1);
        if (x.v > 290) {
            if (s->strict)
                return cut(in, s, p, 36, 1);
            x = too_great(in, s, x, 36, 1, "unit", 290);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 36, 2);
        if (x.v > 536870912) {
            if (s->strict)
                return cut(in, s, p, 36, 2);
            x = too_great(in, s, x, 36, 2, "batch", 536870912);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 36, 3);
        if (x.v > 631105) {
            if (s->strict)
                return cut(in, s, p, 36, 3);
            x = too_great(in, s, x, 36, 3, "limit", 631105);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 36, 4);
        if (x.v > 706432) {
            if (s->strict)
                return cut(in, s, p, 36, 4);
            x = too_great(in, s, x, 36, 4, "quantity", 706432);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 36);
    return 1;
}

static int decode_margin_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 37, 0);
        if (x.v > 663093) {
            if (s->strict)
                return cut(in, s, p, 37, 0);
            x = too_great(in, s, x, 37, 0, "quantity", 663093);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 37, 1);
        if (x.v > 44510) {
            if (s->strict)
                return cut(in, s, p, 37, 1);
            x = too_great(in, s, x, 37, 1, "route", 44510);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 37, 2);
        if (x.v > 505497) {
            if (s->strict)
                return cut(in, s, p, 37, 2);
            x = too_great(in, s, x, 37, 2, "time", 505497);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 37, 3);
        if (x.v > 26146) {
            if (s->strict)
                return cut(in, s, p, 37, 3);
            x = too_great(in, s, x, 37, 3, "venue", 26146);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 37, 4);
        if (x.v > 7444) {
            if (s->strict)
                return cut(in, s, p, 37, 4);
            x = too_great(in, s, x, 37, 4, "bid", 7444);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 37, 5);
        if (x.v > 262144) {
            if (s->strict)
                return cut(in, s, p, 37, 5);
            x = too_great(in, s, x, 37, 5, "owner", 262144);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 37);
    return 1;
}

static int decode_margin_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 38, 0);
        if (x.v > 67108864) {
            if (s->strict)
                return cut(in, s, p, 38, 0);
            x = too_great(in, s, x, 38, 0, "batch", 67108864);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 38, 1);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 38, 1);
            x = too_great(in, s, x, 38, 1, "limit", 524288);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 38, 2);
        if (x.v > 761953) {
            if (s->strict)
                return cut(in, s, p, 38, 2);
            x = too_great(in, s, x, 38, 2, "quantity", 761953);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 38, 3);
        if (x.v > 350953) {
            if (s->strict)
                return cut(in, s, p, 38, 3);
            x = too_great(in, s, x, 38, 3, "route", 350953);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 38, 4);
        if (x.v > 469718) {
            if (s->strict)
                return cut(in, s, p, 38, 4);
            x = too_great(in, s, x, 38, 4, "time", 469718);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 38);
    return 1;
}

static int decode_margin_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 39, 0);
        if (x.v > 16) {
            if (s->strict)
                return cut(in, s, p, 39, 0);
            x = too_great(in, s, x, 39, 0, "time", 16);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 39, 0);
        s->type->text(s, 0, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 39, 1);
        if (x.v > 13) {
            if (s->strict)
                return cut(in, s, p, 39, 1);
            x = too_great(in, s, x, 39, 1, "venue", 13);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 39, 1);
        s->type->text(s, 1, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 39, 2);
        if (x.v > 62997) {
            if (s->strict)
                return cut(in, s, p, 39, 2);
            x = too_great(in, s, x, 39, 2, "bid", 62997);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 39, 3);
        if (x.v > 240931) {
            if (s->strict)
                return cut(in, s, p, 39, 3);
            x = too_great(in, s, x, 39, 3, "owner", 240931);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 39, 4);
        if (x.v > 23719) {
            if (s->strict)
                return cut(in, s, p, 39, 4);
            x = too_great(in, s, x, 39, 4, "rate", 23719);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 39);
    return 1;
}

static int decode_order_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 40, 0);
        if (x.v > 968585) {
            if (s->strict)
                return cut(in, s, p, 40, 0);
            x = too_great(in, s, x, 40, 0, "quantity", 968585);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 40, 1);
        if (x.v > 1040856) {
            if (s->strict)
                return cut(in, s, p, 40, 1);
            x = too_great(in, s, x, 40, 1, "route", 1040856);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 40, 2);
        if (x.v > 704753) {
            if (s->strict)
                return cut(in, s, p, 40, 2);
            x = too_great(in, s, x, 40, 2, "time", 704753);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 40, 3);
        if (x.v > 31) {
            if (s->strict)
                return cut(in, s, p, 40, 3);
            x = too_great(in, s, x, 40, 3, "venue", 31);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 40, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 40, 4);
        if (x.v > 45806) {
            if (s->strict)
                return cut(in, s, p, 40, 4);
            x = too_great(in, s, x, 40, 4, "bid", 45806);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 40);
    return 1;
}

static int decode_order_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 41, 0);
        if (x.v > 45400) {
            if (s->strict)
                return cut(in, s, p, 41, 0);
            x = too_great(in, s, x, 41, 0, "time", 45400);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 41, 1);
        if (x.v > 67108864) {
            if (s->strict)
                return cut(in, s, p, 41, 1);
            x = too_great(in, s, x, 41, 1, "venue", 67108864);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 41, 2);
        if (x.v > 41370) {
            if (s->strict)
                return cut(in, s, p, 41, 2);
            x = too_great(in, s, x, 41, 2, "bid", 41370);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 41, 3);
        if (x.v > 11178) {
            if (s->strict)
                return cut(in, s, p, 41, 3);
            x = too_great(in, s, x, 41, 3, "owner", 11178);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 41, 4);
        if (x.v > 25949) {
            if (s->strict)
                return cut(in, s, p, 41, 4);
            x = too_great(in, s, x, 41, 4, "rate", 25949);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 41, 5);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 41, 5);
            x = too_great(in, s, x, 41, 5, "side", 524288);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 41, 6);
        if (x.v > 33554432) {
            if (s->strict)
                return cut(in, s, p, 41, 6);
            x = too_great(in, s, x, 41, 6, "total", 33554432);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 41);
    return 1;
}

static int decode_order_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 42, 0);
        if (x.v > 24568) {
            if (s->strict)
                return cut(in, s, p, 42, 0);
            x = too_great(in, s, x, 42, 0, "route", 24568);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 42, 1);
        if (x.v > 59416) {
            if (s->strict)
                return cut(in, s, p, 42, 1);
            x = too_great(in, s, x, 42, 1, "time", 59416);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 42, 2);
        if (x.v > 52879) {
            if (s->strict)
                return cut(in, s, p, 42, 2);
            x = too_great(in, s, x, 42, 2, "venue", 52879);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 42, 3);
        if (x.v > 25826) {
            if (s->strict)
                return cut(in, s, p, 42, 3);
            x = too_great(in, s, x, 42, 3, "bid", 25826);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 42, 4);
        if (x.v > 93817) {
            if (s->strict)
                return cut(in, s, p, 42, 4);
            x = too_great(in, s, x, 42, 4, "owner", 93817);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 42, 5);
        if (x.v > 284850) {
            if (s->strict)
                return cut(in, s, p, 42, 5);
            x = too_great(in, s, x, 42, 5, "rate", 284850);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 42, 6);
        if (x.v > 19537) {
            if (s->strict)
                return cut(in, s, p, 42, 6);
            x = too_great(in, s, x, 42, 6, "side", 19537);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 42, 7);
        if (x.v > 48462) {
            if (s->strict)
                return cut(in, s, p, 42, 7);
            x = too_great(in, s, x, 42, 7, "total", 48462);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 42);
    return 1;
}

static int decode_order_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 43, 0);
        if (x.v > 2097152) {
            if (s->strict)
                return cut(in, s, p, 43, 0);
            x = too_great(in, s, x, 43, 0, "limit", 2097152);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 43, 1);
        if (x.v > 8388608) {
            if (s->strict)
                return cut(in, s, p, 43, 1);
            x = too_great(in, s, x, 43, 1, "quantity", 8388608);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 43, 2);
        if (x.v > 31709) {
            if (s->strict)
                return cut(in, s, p, 43, 2);
            x = too_great(in, s, x, 43, 2, "route", 31709);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 43, 3);
        if (x.v > 493359) {
            if (s->strict)
                return cut(in, s, p, 43, 3);
            x = too_great(in, s, x, 43, 3, "time", 493359);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 43, 4);
        if (x.v > 11) {
            if (s->strict)
                return cut(in, s, p, 43, 4);
            x = too_great(in, s, x, 43, 4, "venue", 11);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 43, 4);
        s->type->text(s, 4, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 43, 5);
        if (x.v > 627558) {
            if (s->strict)
                return cut(in, s, p, 43, 5);
            x = too_great(in, s, x, 43, 5, "bid", 627558);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 43, 6);
        if (x.v > 23305) {
            if (s->strict)
                return cut(in, s, p, 43, 6);
            x = too_great(in, s, x, 43, 6, "owner", 23305);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 43, 7);
        if (x.v > 882) {
            if (s->strict)
                return cut(in, s, p, 43, 7);
            x = too_great(in, s, x, 43, 7, "rate", 882);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 43);
    return 1;
}

static int decode_order_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 44, 0);
        if (x.v > 901079) {
            if (s->strict)
                return cut(in, s, p, 44, 0);
            x = too_great(in, s, x, 44, 0, "route", 901079);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 44, 1);
        if (x.v > 65536) {
            if (s->strict)
                return cut(in, s, p, 44, 1);
            x = too_great(in, s, x, 44, 1, "time", 65536);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 44, 2);
        if (x.v > 975742) {
            if (s->strict)
                return cut(in, s, p, 44, 2);
            x = too_great(in, s, x, 44, 2, "venue", 975742);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 44, 3);
        if (x.v > 38913) {
            if (s->strict)
                return cut(in, s, p, 44, 3);
            x = too_great(in, s, x, 44, 3, "bid", 38913);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 44, 4);
        if (x.v > 48329) {
            if (s->strict)
                return cut(in, s, p, 44, 4);
            x = too_great(in, s, x, 44, 4, "owner", 48329);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 44, 5);
        if (x.v > 1020370) {
            if (s->strict)
                return cut(in, s, p, 44, 5);
            x = too_great(in, s, x, 44, 5, "rate", 1020370);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 44, 6);
        if (x.v > 622145) {
            if (s->strict)
                return cut(in, s, p, 44, 6);
            x = too_great(in, s, x, 44, 6, "side", 622145);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 44);
    return 1;
}

static int decode_order_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 45, 0);
        if (x.v > 24550) {
            if (s->strict)
                return cut(in, s, p, 45, 0);
            x = too_great(in, s, x, 45, 0, "bid", 24550);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 45, 1);
        if (x.v > 201440) {
            if (s->strict)
                return cut(in, s, p, 45, 1);
            x = too_great(in, s, x, 45, 1, "owner", 201440);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 45, 2);
        if (x.v > 960741) {
            if (s->strict)
                return cut(in, s, p, 45, 2);
            x = too_great(in, s, x, 45, 2, "rate", 960741);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 45, 3);
        if (x.v > 48556) {
            if (s->strict)
                return cut(in, s, p, 45, 3);
            x = too_great(in, s, x, 45, 3, "side", 48556);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 45, 4);
        if (x.v > 44032) {
            if (s->strict)
                return cut(in, s, p, 45, 4);
            x = too_great(in, s, x, 45, 4, "total", 44032);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 45);
    return 1;
}

static int decode_order_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 46, 0);
        if (x.v > 246752) {
            if (s->strict)
                return cut(in, s, p, 46, 0);
            x = too_great(in, s, x, 46, 0, "ask", 246752);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 46, 1);
        if (x.v > 21081) {
            if (s->strict)
                return cut(in, s, p, 46, 1);
            x = too_great(in, s, x, 46, 1, "price", 21081);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 46, 2);
        if (x.v > 630120) {
            if (s->strict)
                return cut(in, s, p, 46, 2);
            x = too_great(in, s, x, 46, 2, "reference", 630120);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 46, 3);
        if (x.v > 19449) {
            if (s->strict)
                return cut(in, s, p, 46, 3);
            x = too_great(in, s, x, 46, 3, "strike", 19449);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 46, 4);
        if (x.v > 28655) {
            if (s->strict)
                return cut(in, s, p, 46, 4);
            x = too_great(in, s, x, 46, 4, "unit", 28655);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 46, 5);
        if (x.v > 346502) {
            if (s->strict)
                return cut(in, s, p, 46, 5);
            x = too_great(in, s, x, 46, 5, "batch", 346502);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 46);
    return 1;
}

static int decode_order_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 47, 0);
        if (x.v > 45543) {
            if (s->strict)
                return cut(in, s, p, 47, 0);
            x = too_great(in, s, x, 47, 0, "amount", 45543);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 47, 1);
        if (x.v > 1970) {
            if (s->strict)
                return cut(in, s, p, 47, 1);
            x = too_great(in, s, x, 47, 1, "ask", 1970);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 47, 2);
        if (x.v > 134217728) {
            if (s->strict)
                return cut(in, s, p, 47, 2);
            x = too_great(in, s, x, 47, 2, "price", 134217728);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 47, 3);
        if (x.v > 547771) {
            if (s->strict)
                return cut(in, s, p, 47, 3);
            x = too_great(in, s, x, 47, 3, "reference", 547771);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 47, 4);
        if (x.v > 21486) {
            if (s->strict)
                return cut(in, s, p, 47, 4);
            x = too_great(in, s, x, 47, 4, "strike", 21486);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 47, 5);
        if (x.v > 24) {
            if (s->strict)
                return cut(in, s, p, 47, 5);
            x = too_great(in, s, x, 47, 5, "unit", 24);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 47, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 47);
    return 1;
}

static int decode_quote_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 48, 0);
        if (x.v > 24503) {
            if (s->strict)
                return cut(in, s, p, 48, 0);
            x = too_great(in, s, x, 48, 0, "ask", 24503);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 48, 1);
        if (x.v > 26) {
            if (s->strict)
                return cut(in, s, p, 48, 1);
            x = too_great(in, s, x, 48, 1, "price", 26);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 48, 1);
        s->type->text(s, 1, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 48, 2);
        if (x.v > 8927) {
            if (s->strict)
                return cut(in, s, p, 48, 2);
            x = too_great(in, s, x, 48, 2, "reference", 8927);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 48, 3);
        if (x.v > 41822) {
            if (s->strict)
                return cut(in, s, p, 48, 3);
            x = too_great(in, s, x, 48, 3, "strike", 41822);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 48, 4);
        if (x.v > 22) {
            if (s->strict)
                return cut(in, s, p, 48, 4);
            x = too_great(in, s, x, 48, 4, "unit", 22);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 48, 4);
        s->type->text(s, 4, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 48, 5);
        if (x.v > 40285) {
            if (s->strict)
                return cut(in, s, p, 48, 5);
            x = too_great(in, s, x, 48, 5, "batch", 40285);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 48, 6);
        if (x.v > 10) {
            if (s->strict)
                return cut(in, s, p, 48, 6);
            x = too_great(in, s, x, 48, 6, "limit", 10);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 48, 6);
        s->type->text(s, 6, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 48, 7);
        if (x.v > 17) {
            if (s->strict)
                return cut(in, s, p, 48, 7);
            x = too_great(in, s, x, 48, 7, "quantity", 17);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 48, 7);
        s->type->text(s, 7, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 48);
    return 1;
}

static int decode_quote_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 49, 0);
        if (x.v > 54816) {
            if (s->strict)
                return cut(in, s, p, 49, 0);
            x = too_great(in, s, x, 49, 0, "venue", 54816);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 49, 1);
        if (x.v > 342071) {
            if (s->strict)
                return cut(in, s, p, 49, 1);
            x = too_great(in, s, x, 49, 1, "bid", 342071);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 49, 2);
        if (x.v > 1048576) {
            if (s->strict)
                return cut(in, s, p, 49, 2);
            x = too_great(in, s, x, 49, 2, "owner", 1048576);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 49, 3);
        if (x.v > 19262) {
            if (s->strict)
                return cut(in, s, p, 49, 3);
            x = too_great(in, s, x, 49, 3, "rate", 19262);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 49, 4);
        if (x.v > 531760) {
            if (s->strict)
                return cut(in, s, p, 49, 4);
            x = too_great(in, s, x, 49, 4, "side", 531760);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 49);
    return 1;
}

static int decode_quote_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 50, 0);
        if (x.v > 964985) {
            if (s->strict)
                return cut(in, s, p, 50, 0);
            x = too_great(in, s, x, 50, 0, "time", 964985);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 50, 1);
        if (x.v > 644981) {
            if (s->strict)
                return cut(in, s, p, 50, 1);
            x = too_great(in, s, x, 50, 1, "venue", 644981);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 50, 2);
        if (x.v > 29) {
            if (s->strict)
                return cut(in, s, p, 50, 2);
            x = too_great(in, s, x, 50, 2, "bid", 29);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 50, 2);
        s->type->text(s, 2, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 50, 3);
        if (x.v > 30) {
            if (s->strict)
                return cut(in, s, p, 50, 3);
            x = too_great(in, s, x, 50, 3, "owner", 30);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 50, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 50, 4);
        if (x.v > 63503) {
            if (s->strict)
                return cut(in, s, p, 50, 4);
            x = too_great(in, s, x, 50, 4, "rate", 63503);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 50, 5);
        if (x.v > 20) {
            if (s->strict)
                return cut(in, s, p, 50, 5);
            x = too_great(in, s, x, 50, 5, "side", 20);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 50, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 50);
    return 1;
}

static int decode_quote_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 51, 0);
        if (x.v > 18) {
            if (s->strict)
                return cut(in, s, p, 51, 0);
            x = too_great(in, s, x, 51, 0, "unit", 18);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 51, 0);
        s->type->text(s, 0, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 51, 1);
        if (x.v > 323546) {
            if (s->strict)
                return cut(in, s, p, 51, 1);
            x = too_great(in, s, x, 51, 1, "batch", 323546);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 51, 2);
        if (x.v > 13) {
            if (s->strict)
                return cut(in, s, p, 51, 2);
            x = too_great(in, s, x, 51, 2, "limit", 13);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 51, 2);
        s->type->text(s, 2, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 51, 3);
        if (x.v > 24) {
            if (s->strict)
                return cut(in, s, p, 51, 3);
            x = too_great(in, s, x, 51, 3, "quantity", 24);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 51, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 51, 4);
        if (x.v > 37822) {
            if (s->strict)
                return cut(in, s, p, 51, 4);
            x = too_great(in, s, x, 51, 4, "route", 37822);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 51, 5);
        if (x.v > 31) {
            if (s->strict)
                return cut(in, s, p, 51, 5);
            x = too_great(in, s, x, 51, 5, "time", 31);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 51, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 51, 6);
        if (x.v > 72090) {
            if (s->strict)
                return cut(in, s, p, 51, 6);
            x = too_great(in, s, x, 51, 6, "venue", 72090);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 51, 7);
        if (x.v > 16573) {
            if (s->strict)
                return cut(in, s, p, 51, 7);
            x = too_great(in, s, x, 51, 7, "bid", 16573);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 51);
    return 1;
}

static int decode_quote_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 52, 0);
        if (x.v > 81228) {
            if (s->strict)
                return cut(in, s, p, 52, 0);
            x = too_great(in, s, x, 52, 0, "quantity", 81228);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 52, 1);
        if (x.v > 131072) {
            if (s->strict)
                return cut(in, s, p, 52, 1);
            x = too_great(in, s, x, 52, 1, "route", 131072);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 52, 2);
        if (x.v > 1048576) {
            if (s->strict)
                return cut(in, s, p, 52, 2);
            x = too_great(in, s, x, 52, 2, "time", 1048576);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 52, 3);
        if (x.v > 8) {
            if (s->strict)
                return cut(in, s, p, 52, 3);
            x = too_great(in, s, x, 52, 3, "venue", 8);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 52, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 52, 4);
        if (x.v > 38866) {
            if (s->strict)
                return cut(in, s, p, 52, 4);
            x = too_great(in, s, x, 52, 4, "bid", 38866);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 52, 5);
        if (x.v > 16777216) {
            if (s->strict)
                return cut(in, s, p, 52, 5);
            x = too_great(in, s, x, 52, 5, "owner", 16777216);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 52, 6);
        if (x.v > 14203) {
            if (s->strict)
                return cut(in, s, p, 52, 6);
            x = too_great(in, s, x, 52, 6, "rate", 14203);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 52, 7);
        if (x.v > 188904) {
            if (s->strict)
                return cut(in, s, p, 52, 7);
            x = too_great(in, s, x, 52, 7, "side", 188904);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 52);
    return 1;
}

static int decode_quote_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 53, 0);
        if (x.v > 151003) {
            if (s->strict)
                return cut(in, s, p, 53, 0);
            x = too_great(in, s, x, 53, 0, "time", 151003);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 53, 1);
        if (x.v > 175276) {
            if (s->strict)
                return cut(in, s, p, 53, 1);
            x = too_great(in, s, x, 53, 1, "venue", 175276);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 53, 2);
        if (x.v > 73016) {
            if (s->strict)
                return cut(in, s, p, 53, 2);
            x = too_great(in, s, x, 53, 2, "bid", 73016);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 53, 3);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 53, 3);
            x = too_great(in, s, x, 53, 3, "owner", 524288);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 53, 4);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 53, 4);
            x = too_great(in, s, x, 53, 4, "rate", 524288);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 53, 5);
        if (x.v > 967776) {
            if (s->strict)
                return cut(in, s, p, 53, 5);
            x = too_great(in, s, x, 53, 5, "side", 967776);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 53, 6);
        if (x.v > 67108864) {
            if (s->strict)
                return cut(in, s, p, 53, 6);
            x = too_great(in, s, x, 53, 6, "total", 67108864);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 53, 7);
        if (x.v > 19) {
            if (s->strict)
                return cut(in, s, p, 53, 7);
            x = too_great(in, s, x, 53, 7, "amount", 19);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 53, 7);
        s->type->text(s, 7, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 53);
    return 1;
}

static int decode_quote_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 54, 0);
        if (x.v > 536870912) {
            if (s->strict)
                return cut(in, s, p, 54, 0);
            x = too_great(in, s, x, 54, 0, "reference", 536870912);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 54, 1);
        if (x.v > 70759) {
            if (s->strict)
                return cut(in, s, p, 54, 1);
            x = too_great(in, s, x, 54, 1, "strike", 70759);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 54, 2);
        if (x.v > 44787) {
            if (s->strict)
                return cut(in, s, p, 54, 2);
            x = too_great(in, s, x, 54, 2, "unit", 44787);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 54, 3);
        if (x.v > 24) {
            if (s->strict)
                return cut(in, s, p, 54, 3);
            x = too_great(in, s, x, 54, 3, "batch", 24);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 54, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 54, 4);
        if (x.v > 12991) {
            if (s->strict)
                return cut(in, s, p, 54, 4);
            x = too_great(in, s, x, 54, 4, "limit", 12991);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 54, 5);
        if (x.v > 34970) {
            if (s->strict)
                return cut(in, s, p, 54, 5);
            x = too_great(in, s, x, 54, 5, "quantity", 34970);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 54);
    return 1;
}

static int decode_quote_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 55, 0);
        if (x.v > 501080) {
            if (s->strict)
                return cut(in, s, p, 55, 0);
            x = too_great(in, s, x, 55, 0, "ask", 501080);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 55, 1);
        if (x.v > 262144) {
            if (s->strict)
                return cut(in, s, p, 55, 1);
            x = too_great(in, s, x, 55, 1, "price", 262144);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 55, 2);
        if (x.v > 28) {
            if (s->strict)
                return cut(in, s, p, 55, 2);
            x = too_great(in, s, x, 55, 2, "reference", 28);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 55, 2);
        s->type->text(s, 2, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 55, 3);
        if (x.v > 18635) {
            if (s->strict)
                return cut(in, s, p, 55, 3);
            x = too_great(in, s, x, 55, 3, "strike", 18635);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 55, 4);
        if (x.v > 912560) {
            if (s->strict)
                return cut(in, s, p, 55, 4);
            x = too_great(in, s, x, 55, 4, "unit", 912560);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 55, 5);
        if (x.v > 19889) {
            if (s->strict)
                return cut(in, s, p, 55, 5);
            x = too_great(in, s, x, 55, 5, "batch", 19889);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 55, 6);
        if (x.v > 20) {
            if (s->strict)
                return cut(in, s, p, 55, 6);
            x = too_great(in, s, x, 55, 6, "limit", 20);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 55, 6);
        s->type->text(s, 6, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 55, 7);
        if (x.v > 282427) {
            if (s->strict)
                return cut(in, s, p, 55, 7);
            x = too_great(in, s, x, 55, 7, "quantity", 282427);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 55);
    return 1;
}

static int decode_session_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 56, 0);
        if (x.v > 54003) {
            if (s->strict)
                return cut(in, s, p, 56, 0);
            x = too_great(in, s, x, 56, 0, "price", 54003);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 56, 1);
        if (x.v > 31943) {
            if (s->strict)
                return cut(in, s, p, 56, 1);
            x = too_great(in, s, x, 56, 1, "reference", 31943);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 56, 2);
        if (x.v > 4718) {
            if (s->strict)
                return cut(in, s, p, 56, 2);
            x = too_great(in, s, x, 56, 2, "strike", 4718);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 56, 3);
        if (x.v > 45912) {
            if (s->strict)
                return cut(in, s, p, 56, 3);
            x = too_great(in, s, x, 56, 3, "unit", 45912);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 56, 4);
        if (x.v > 14660) {
            if (s->strict)
                return cut(in, s, p, 56, 4);
            x = too_great(in, s, x, 56, 4, "batch", 14660);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 56, 5);
        if (x.v > 10846) {
            if (s->strict)
                return cut(in, s, p, 56, 5);
            x = too_great(in, s, x, 56, 5, "limit", 10846);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 56, 6);
        if (x.v > 32398) {
            if (s->strict)
                return cut(in, s, p, 56, 6);
            x = too_great(in, s, x, 56, 6, "quantity", 32398);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 56, 7);
        if (x.v > 58811) {
            if (s->strict)
                return cut(in, s, p, 56, 7);
            x = too_great(in, s, x, 56, 7, "route", 58811);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 56);
    return 1;
}

static int decode_session_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 57, 0);
        if (x.v > 327209) {
            if (s->strict)
                return cut(in, s, p, 57, 0);
            x = too_great(in, s, x, 57, 0, "bid", 327209);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 57, 1);
        if (x.v > 8388608) {
            if (s->strict)
                return cut(in, s, p, 57, 1);
            x = too_great(in, s, x, 57, 1, "owner", 8388608);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 57, 2);
        if (x.v > 948563) {
            if (s->strict)
                return cut(in, s, p, 57, 2);
            x = too_great(in, s, x, 57, 2, "rate", 948563);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 57, 3);
        if (x.v > 3988) {
            if (s->strict)
                return cut(in, s, p, 57, 3);
            x = too_great(in, s, x, 57, 3, "side", 3988);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 57, 4);
        if (x.v > 8) {
            if (s->strict)
                return cut(in, s, p, 57, 4);
            x = too_great(in, s, x, 57, 4, "total", 8);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 57, 4);
        s->type->text(s, 4, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 57);
    return 1;
}

static int decode_session_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 58, 0);
        if (x.v > 4377) {
            if (s->strict)
                return cut(in, s, p, 58, 0);
            x = too_great(in, s, x, 58, 0, "amount", 4377);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 58, 1);
        if (x.v > 35018) {
            if (s->strict)
                return cut(in, s, p, 58, 1);
            x = too_great(in, s, x, 58, 1, "ask", 35018);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 58, 2);
        if (x.v > 37972) {
            if (s->strict)
                return cut(in, s, p, 58, 2);
            x = too_great(in, s, x, 58, 2, "price", 37972);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 58, 3);
        if (x.v > 30391) {
            if (s->strict)
                return cut(in, s, p, 58, 3);
            x = too_great(in, s, x, 58, 3, "reference", 30391);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 58, 4);
        if (x.v > 20229) {
            if (s->strict)
                return cut(in, s, p, 58, 4);
            x = too_great(in, s, x, 58, 4, "strike", 20229);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 58, 5);
        if (x.v > 337669) {
            if (s->strict)
                return cut(in, s, p, 58, 5);
            x = too_great(in, s, x, 58, 5, "unit", 337669);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 58, 6);
        if (x.v > 65536) {
            if (s->strict)
                return cut(in, s, p, 58, 6);
            x = too_great(in, s, x, 58, 6, "batch", 65536);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 58);
    return 1;
}

static int decode_session_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 59, 0);
        if (x.v > 33554432) {
            if (s->strict)
                return cut(in, s, p, 59, 0);
            x = too_great(in, s, x, 59, 0, "price", 33554432);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 59, 1);
        if (x.v > 42879) {
            if (s->strict)
                return cut(in, s, p, 59, 1);
            x = too_great(in, s, x, 59, 1, "reference", 42879);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 59, 2);
        if (x.v > 863162) {
            if (s->strict)
                return cut(in, s, p, 59, 2);
            x = too_great(in, s, x, 59, 2, "strike", 863162);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 59, 3);
        if (x.v > 40599) {
            if (s->strict)
                return cut(in, s, p, 59, 3);
            x = too_great(in, s, x, 59, 3, "unit", 40599);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 59, 4);
        if (x.v > 65536) {
            if (s->strict)
                return cut(in, s, p, 59, 4);
            x = too_great(in, s, x, 59, 4, "batch", 65536);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 59, 5);
        if (x.v > 61404) {
            if (s->strict)
                return cut(in, s, p, 59, 5);
            x = too_great(in, s, x, 59, 5, "limit", 61404);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 59);
    return 1;
}

static int decode_session_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 60, 0);
        if (x.v > 19) {
            if (s->strict)
                return cut(in, s, p, 60, 0);
            x = too_great(in, s, x, 60, 0, "limit", 19);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 60, 0);
        s->type->text(s, 0, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 60, 1);
        if (x.v > 22476) {
            if (s->strict)
                return cut(in, s, p, 60, 1);
            x = too_great(in, s, x, 60, 1, "quantity", 22476);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 60, 2);
        if (x.v > 12663) {
            if (s->strict)
                return cut(in, s, p, 60, 2);
            x = too_great(in, s, x, 60, 2, "route", 12663);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 60, 3);
        if (x.v > 52070) {
            if (s->strict)
                return cut(in, s, p, 60, 3);
            x = too_great(in, s, x, 60, 3, "time", 52070);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 60, 4);
        if (x.v > 230382) {
            if (s->strict)
                return cut(in, s, p, 60, 4);
            x = too_great(in, s, x, 60, 4, "venue", 230382);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 60, 5);
        if (x.v > 18) {
            if (s->strict)
                return cut(in, s, p, 60, 5);
            x = too_great(in, s, x, 60, 5, "bid", 18);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 60, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 60, 6);
        if (x.v > 401027) {
            if (s->strict)
                return cut(in, s, p, 60, 6);
            x = too_great(in, s, x, 60, 6, "owner", 401027);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 60);
    return 1;
}

static int decode_session_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 61, 0);
        if (x.v > 98267) {
            if (s->strict)
                return cut(in, s, p, 61, 0);
            x = too_great(in, s, x, 61, 0, "unit", 98267);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 61, 1);
        if (x.v > 25) {
            if (s->strict)
                return cut(in, s, p, 61, 1);
            x = too_great(in, s, x, 61, 1, "batch", 25);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 61, 1);
        s->type->text(s, 1, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 61, 2);
        if (x.v > 268435456) {
            if (s->strict)
                return cut(in, s, p, 61, 2);
            x = too_great(in, s, x, 61, 2, "limit", 268435456);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 61, 3);
        if (x.v > 14) {
            if (s->strict)
                return cut(in, s, p, 61, 3);
            x = too_great(in, s, x, 61, 3, "quantity", 14);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 61, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 61, 4);
        if (x.v > 26753) {
            if (s->strict)
                return cut(in, s, p, 61, 4);
            x = too_great(in, s, x, 61, 4, "route", 26753);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 61);
    return 1;
}

static int decode_session_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 62, 0);
        if (x.v > 906813) {
            if (s->strict)
                return cut(in, s, p, 62, 0);
            x = too_great(in, s, x, 62, 0, "ask", 906813);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 62, 1);
        if (x.v > 24259) {
            if (s->strict)
                return cut(in, s, p, 62, 1);
            x = too_great(in, s, x, 62, 1, "price", 24259);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 62, 2);
        if (x.v > 666757) {
            if (s->strict)
                return cut(in, s, p, 62, 2);
            x = too_great(in, s, x, 62, 2, "reference", 666757);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 62, 3);
        if (x.v > 185723) {
            if (s->strict)
                return cut(in, s, p, 62, 3);
            x = too_great(in, s, x, 62, 3, "strike", 185723);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 62, 4);
        if (x.v > 33554432) {
            if (s->strict)
                return cut(in, s, p, 62, 4);
            x = too_great(in, s, x, 62, 4, "unit", 33554432);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    in->at = p;
    s->type->end(s, 62);
    return 1;
}

static int decode_session_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 63, 0);
        if (x.v > 17) {
            if (s->strict)
                return cut(in, s, p, 63, 0);
            x = too_great(in, s, x, 63, 0, "route", 17);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 63, 0);
        s->type->text(s, 0, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 63, 1);
        if (x.v > 208466) {
            if (s->strict)
                return cut(in, s, p, 63, 1);
            x = too_great(in, s, x, 63, 1, "time", 208466);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 63, 2);
        if (x.v > 27) {
            if (s->strict)
                return cut(in, s, p, 63, 2);
            x = too_great(in, s, x, 63, 2, "venue", 27);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 63, 2);
        s->type->text(s, 2, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 63, 3);
        if (x.v > 306553) {
            if (s->strict)
                return cut(in, s, p, 63, 3);
            x = too_great(in, s, x, 63, 3, "bid", 306553);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 63, 4);
        if (x.v > 59478) {
            if (s->strict)
                return cut(in, s, p, 63, 4);
            x = too_great(in, s, x, 63, 4, "owner", 59478);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 63, 5);
        if (x.v > 894142) {
            if (s->strict)
                return cut(in, s, p, 63, 5);
            x = too_great(in, s, x, 63, 5, "rate", 894142);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 63, 6);
        if (x.v > 15724) {
            if (s->strict)
                return cut(in, s, p, 63, 6);
            x = too_great(in, s, x, 63, 6, "side", 15724);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 63, 7);
        if (x.v > 52188) {
            if (s->strict)
                return cut(in, s, p, 63, 7);
            x = too_great(in, s, x, 63, 7, "total", 52188);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 63);
    return 1;
}

static int decode_trade_accept(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 64, 0);
        if (x.v > 418265) {
            if (s->strict)
                return cut(in, s, p, 64, 0);
            x = too_great(in, s, x, 64, 0, "rate", 418265);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 64, 1);
        if (x.v > 524288) {
            if (s->strict)
                return cut(in, s, p, 64, 1);
            x = too_great(in, s, x, 64, 1, "side", 524288);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 64, 2);
        if (x.v > 27) {
            if (s->strict)
                return cut(in, s, p, 64, 2);
            x = too_great(in, s, x, 64, 2, "total", 27);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 64, 2);
        s->type->text(s, 2, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 64, 3);
        if (x.v > 23307) {
            if (s->strict)
                return cut(in, s, p, 64, 3);
            x = too_great(in, s, x, 64, 3, "amount", 23307);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 64, 4);
        if (x.v > 31) {
            if (s->strict)
                return cut(in, s, p, 64, 4);
            x = too_great(in, s, x, 64, 4, "ask", 31);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 64, 4);
        s->type->text(s, 4, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 64, 5);
        if (x.v > 262144) {
            if (s->strict)
                return cut(in, s, p, 64, 5);
            x = too_great(in, s, x, 64, 5, "price", 262144);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 64);
    return 1;
}

static int decode_trade_amend(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 65, 0);
        if (x.v > 515409) {
            if (s->strict)
                return cut(in, s, p, 65, 0);
            x = too_great(in, s, x, 65, 0, "bid", 515409);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 65, 1);
        if (x.v > 10231) {
            if (s->strict)
                return cut(in, s, p, 65, 1);
            x = too_great(in, s, x, 65, 1, "owner", 10231);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 65, 2);
        if (x.v > 32948) {
            if (s->strict)
                return cut(in, s, p, 65, 2);
            x = too_great(in, s, x, 65, 2, "rate", 32948);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 65, 3);
        if (x.v > 14) {
            if (s->strict)
                return cut(in, s, p, 65, 3);
            x = too_great(in, s, x, 65, 3, "side", 14);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 65, 3);
        s->type->text(s, 3, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 65, 4);
        if (x.v > 60271) {
            if (s->strict)
                return cut(in, s, p, 65, 4);
            x = too_great(in, s, x, 65, 4, "total", 60271);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 65, 5);
        if (x.v > 138559) {
            if (s->strict)
                return cut(in, s, p, 65, 5);
            x = too_great(in, s, x, 65, 5, "amount", 138559);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 65, 6);
        if (x.v > 7682) {
            if (s->strict)
                return cut(in, s, p, 65, 6);
            x = too_great(in, s, x, 65, 6, "ask", 7682);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 65, 7);
        if (x.v > 67108864) {
            if (s->strict)
                return cut(in, s, p, 65, 7);
            x = too_great(in, s, x, 65, 7, "price", 67108864);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 65);
    return 1;
}

static int decode_trade_cancel(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 66, 0);
        if (x.v > 679248) {
            if (s->strict)
                return cut(in, s, p, 66, 0);
            x = too_great(in, s, x, 66, 0, "bid", 679248);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 66, 1);
        if (x.v > 422) {
            if (s->strict)
                return cut(in, s, p, 66, 1);
            x = too_great(in, s, x, 66, 1, "owner", 422);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 66, 2);
        if (x.v > 42598) {
            if (s->strict)
                return cut(in, s, p, 66, 2);
            x = too_great(in, s, x, 66, 2, "rate", 42598);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 66, 3);
        if (x.v > 21622) {
            if (s->strict)
                return cut(in, s, p, 66, 3);
            x = too_great(in, s, x, 66, 3, "side", 21622);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 66, 4);
        if (x.v > 5317) {
            if (s->strict)
                return cut(in, s, p, 66, 4);
            x = too_great(in, s, x, 66, 4, "total", 5317);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 66, 5);
        if (x.v > 17136) {
            if (s->strict)
                return cut(in, s, p, 66, 5);
            x = too_great(in, s, x, 66, 5, "amount", 17136);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 66, 6);
        if (x.v > 29297) {
            if (s->strict)
                return cut(in, s, p, 66, 6);
            x = too_great(in, s, x, 66, 6, "ask", 29297);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 66);
    return 1;
}

static int decode_trade_confirm(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 67, 0);
        if (x.v > 37208) {
            if (s->strict)
                return cut(in, s, p, 67, 0);
            x = too_great(in, s, x, 67, 0, "rate", 37208);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 67, 1);
        if (x.v > 57827) {
            if (s->strict)
                return cut(in, s, p, 67, 1);
            x = too_great(in, s, x, 67, 1, "side", 57827);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 67, 2);
        if (x.v > 597587) {
            if (s->strict)
                return cut(in, s, p, 67, 2);
            x = too_great(in, s, x, 67, 2, "total", 597587);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 67, 3);
        if (x.v > 61176) {
            if (s->strict)
                return cut(in, s, p, 67, 3);
            x = too_great(in, s, x, 67, 3, "amount", 61176);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 67, 4);
        if (x.v > 815184) {
            if (s->strict)
                return cut(in, s, p, 67, 4);
            x = too_great(in, s, x, 67, 4, "ask", 815184);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 67, 5);
        if (x.v > 276793) {
            if (s->strict)
                return cut(in, s, p, 67, 5);
            x = too_great(in, s, x, 67, 5, "price", 276793);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 67, 6);
        if (x.v > 268435456) {
            if (s->strict)
                return cut(in, s, p, 67, 6);
            x = too_great(in, s, x, 67, 6, "reference", 268435456);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 67, 7);
        if (x.v > 687268) {
            if (s->strict)
                return cut(in, s, p, 67, 7);
            x = too_great(in, s, x, 67, 7, "strike", 687268);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 67);
    return 1;
}

static int decode_trade_expire(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 68, 0);
        if (x.v > 922183) {
            if (s->strict)
                return cut(in, s, p, 68, 0);
            x = too_great(in, s, x, 68, 0, "total", 922183);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 68, 1);
        if (x.v > 952724) {
            if (s->strict)
                return cut(in, s, p, 68, 1);
            x = too_great(in, s, x, 68, 1, "amount", 952724);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 68, 2);
        if (x.v > 21022) {
            if (s->strict)
                return cut(in, s, p, 68, 2);
            x = too_great(in, s, x, 68, 2, "ask", 21022);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 68, 3);
        if (x.v > 134217728) {
            if (s->strict)
                return cut(in, s, p, 68, 3);
            x = too_great(in, s, x, 68, 3, "price", 134217728);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 68, 4);
        if (x.v > 7314) {
            if (s->strict)
                return cut(in, s, p, 68, 4);
            x = too_great(in, s, x, 68, 4, "reference", 7314);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 68, 5);
        if (x.v > 16) {
            if (s->strict)
                return cut(in, s, p, 68, 5);
            x = too_great(in, s, x, 68, 5, "strike", 16);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 68, 5);
        s->type->text(s, 5, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 68, 6);
        if (x.v > 602064) {
            if (s->strict)
                return cut(in, s, p, 68, 6);
            x = too_great(in, s, x, 68, 6, "unit", 602064);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    in->at = p;
    s->type->end(s, 68);
    return 1;
}

static int decode_trade_list(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 69, 0);
        if (x.v > 55324) {
            if (s->strict)
                return cut(in, s, p, 69, 0);
            x = too_great(in, s, x, 69, 0, "route", 55324);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 69, 1);
        if (x.v > 32178) {
            if (s->strict)
                return cut(in, s, p, 69, 1);
            x = too_great(in, s, x, 69, 1, "time", 32178);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 69, 2);
        if (x.v > 58110) {
            if (s->strict)
                return cut(in, s, p, 69, 2);
            x = too_great(in, s, x, 69, 2, "venue", 58110);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 69, 3);
        if (x.v > 39376) {
            if (s->strict)
                return cut(in, s, p, 69, 3);
            x = too_great(in, s, x, 69, 3, "bid", 39376);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 69, 4);
        if (x.v > 57894) {
            if (s->strict)
                return cut(in, s, p, 69, 4);
            x = too_great(in, s, x, 69, 4, "owner", 57894);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 69, 5);
        if (x.v > 3518) {
            if (s->strict)
                return cut(in, s, p, 69, 5);
            x = too_great(in, s, x, 69, 5, "rate", 3518);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 69, 6);
        if (x.v > 294435) {
            if (s->strict)
                return cut(in, s, p, 69, 6);
            x = too_great(in, s, x, 69, 6, "side", 294435);
        }
        p = x.next;
        s->type->number(s, 6, x.v);
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 69, 7);
        if (x.v > 30163) {
            if (s->strict)
                return cut(in, s, p, 69, 7);
            x = too_great(in, s, x, 69, 7, "total", 30163);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 69);
    return 1;
}

static int decode_trade_reject(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 70, 0);
        if (x.v > 56270) {
            if (s->strict)
                return cut(in, s, p, 70, 0);
            x = too_great(in, s, x, 70, 0, "time", 56270);
        }
        p = x.next;
        s->type->number(s, 0, x.v);
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 70, 1);
        if (x.v > 33965) {
            if (s->strict)
                return cut(in, s, p, 70, 1);
            x = too_great(in, s, x, 70, 1, "venue", 33965);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 70, 2);
        if (x.v > 7354) {
            if (s->strict)
                return cut(in, s, p, 70, 2);
            x = too_great(in, s, x, 70, 2, "bid", 7354);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 70, 3);
        if (x.v > 45211) {
            if (s->strict)
                return cut(in, s, p, 70, 3);
            x = too_great(in, s, x, 70, 3, "owner", 45211);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 70, 4);
        if (x.v > 199631) {
            if (s->strict)
                return cut(in, s, p, 70, 4);
            x = too_great(in, s, x, 70, 4, "rate", 199631);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_fixed(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 70, 5);
        if (x.v > 4194304) {
            if (s->strict)
                return cut(in, s, p, 70, 5);
            x = too_great(in, s, x, 70, 5, "side", 4194304);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    in->at = p;
    s->type->end(s, 70);
    return 1;
}

static int decode_trade_update(struct input *in, struct sink *s) {
    const unsigned char *p = in->at;
    struct value x;
    unsigned present = *p++;
    if (present & 1) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 71, 0);
        if (x.v > 19) {
            if (s->strict)
                return cut(in, s, p, 71, 0);
            x = too_great(in, s, x, 71, 0, "price", 19);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 71, 0);
        s->type->text(s, 0, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 0);
    }
    if (present & 2) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 71, 1);
        if (x.v > 6415) {
            if (s->strict)
                return cut(in, s, p, 71, 1);
            x = too_great(in, s, x, 71, 1, "reference", 6415);
        }
        p = x.next;
        s->type->number(s, 1, x.v);
    } else {
        s->type->missing(s, 1);
    }
    if (present & 4) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 71, 2);
        if (x.v > 867874) {
            if (s->strict)
                return cut(in, s, p, 71, 2);
            x = too_great(in, s, x, 71, 2, "strike", 867874);
        }
        p = x.next;
        s->type->number(s, 2, x.v);
    } else {
        s->type->missing(s, 2);
    }
    if (present & 8) {
        x = read_number(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 71, 3);
        if (x.v > 61120) {
            if (s->strict)
                return cut(in, s, p, 71, 3);
            x = too_great(in, s, x, 71, 3, "unit", 61120);
        }
        p = x.next;
        s->type->number(s, 3, x.v);
    } else {
        s->type->missing(s, 3);
    }
    if (present & 16) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 71, 4);
        if (x.v > 229041) {
            if (s->strict)
                return cut(in, s, p, 71, 4);
            x = too_great(in, s, x, 71, 4, "batch", 229041);
        }
        p = x.next;
        s->type->number(s, 4, x.v);
    } else {
        s->type->missing(s, 4);
    }
    if (present & 32) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 71, 5);
        if (x.v > 971536) {
            if (s->strict)
                return cut(in, s, p, 71, 5);
            x = too_great(in, s, x, 71, 5, "limit", 971536);
        }
        p = x.next;
        s->type->number(s, 5, x.v);
    } else {
        s->type->missing(s, 5);
    }
    if (present & 64) {
        x = read_text(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 71, 6);
        if (x.v > 30) {
            if (s->strict)
                return cut(in, s, p, 71, 6);
            x = too_great(in, s, x, 71, 6, "quantity", 30);
        }
        p = x.next;
        if (in->end - p < (long)x.v)
            return cut(in, s, p, 71, 6);
        s->type->text(s, 6, p, x.v);
        p += x.v;
    } else {
        s->type->missing(s, 6);
    }
    if (present & 128) {
        x = read_price(s, p);
        if (x.next > in->end)
            return cut(in, s, p, 71, 7);
        if (x.v > 740139) {
            if (s->strict)
                return cut(in, s, p, 71, 7);
            x = too_great(in, s, x, 71, 7, "route", 740139);
        }
        p = x.next;
        s->type->number(s, 7, x.v);
    } else {
        s->type->missing(s, 7);
    }
    in->at = p;
    s->type->end(s, 71);
    return 1;
}

static const struct message messages[] = {
    {decode_account_accept, "account_accept", 6, {
        {NUMBER, 43850, 100},
        {PRICE, 482946, 100},
        {FIXED, 1048576, 100},
        {PRICE, 1032548, 0},
        {PRICE, 881652, 100},
        {NUMBER, 27960, 100},
    }},
    {decode_account_amend, "account_amend", 6, {
        {NUMBER, 56262, 100},
        {TEXT, 20, 0},
        {FIXED, 4194304, 100},
        {PRICE, 974852, 100},
        {NUMBER, 5822, 100},
        {PRICE, 681156, 100},
    }},
    {decode_account_cancel, "account_cancel", 5, {
        {PRICE, 763296, 100},
        {NUMBER, 56152, 100},
        {NUMBER, 8966, 100},
        {TEXT, 28, 100},
        {NUMBER, 20876, 100},
    }},
    {decode_account_confirm, "account_confirm", 8, {
        {NUMBER, 43181, 100},
        {NUMBER, 40601, 100},
        {NUMBER, 56599, 0},
        {PRICE, 284175, 100},
        {NUMBER, 29525, 100},
        {NUMBER, 1256, 100},
        {NUMBER, 27411, 100},
        {FIXED, 524288, 100},
    }},
    {decode_account_expire, "account_expire", 7, {
        {FIXED, 268435456, 100},
        {TEXT, 30, 100},
        {TEXT, 23, 100},
        {FIXED, 16777216, 100},
        {NUMBER, 1407, 0},
        {FIXED, 16777216, 100},
        {PRICE, 293622, 100},
    }},
    {decode_account_list, "account_list", 8, {
        {NUMBER, 57808, 100},
        {TEXT, 11, 100},
        {FIXED, 2097152, 100},
        {NUMBER, 11341, 0},
        {NUMBER, 19680, 100},
        {FIXED, 2097152, 100},
        {PRICE, 726336, 100},
        {NUMBER, 33960, 100},
    }},
    {decode_account_reject, "account_reject", 8, {
        {NUMBER, 25850, 100},
        {PRICE, 837087, 100},
        {NUMBER, 16024, 100},
        {NUMBER, 15817, 100},
        {NUMBER, 49382, 100},
        {PRICE, 623285, 100},
        {NUMBER, 23741, 100},
        {FIXED, 524288, 100},
    }},
    {decode_account_update, "account_update", 8, {
        {NUMBER, 20909, 100},
        {NUMBER, 61146, 100},
        {PRICE, 1038883, 100},
        {NUMBER, 20670, 100},
        {TEXT, 16, 100},
        {NUMBER, 14376, 100},
        {PRICE, 109811, 100},
        {NUMBER, 10229, 100},
    }},
    {decode_basket_accept, "basket_accept", 7, {
        {PRICE, 718335, 100},
        {NUMBER, 18872, 100},
        {TEXT, 14, 0},
        {NUMBER, 504, 100},
        {TEXT, 17, 100},
        {TEXT, 26, 100},
        {NUMBER, 20807, 100},
    }},
    {decode_basket_amend, "basket_amend", 8, {
        {NUMBER, 48636, 100},
        {FIXED, 134217728, 100},
        {FIXED, 1048576, 100},
        {PRICE, 392918, 100},
        {FIXED, 4194304, 100},
        {FIXED, 2097152, 100},
        {TEXT, 19, 100},
        {NUMBER, 8110, 100},
    }},
    {decode_basket_cancel, "basket_cancel", 7, {
        {NUMBER, 31455, 100},
        {FIXED, 8388608, 100},
        {PRICE, 814913, 100},
        {FIXED, 2097152, 100},
        {NUMBER, 63601, 100},
        {NUMBER, 24344, 100},
        {PRICE, 1044774, 100},
    }},
    {decode_basket_confirm, "basket_confirm", 6, {
        {PRICE, 251958, 100},
        {PRICE, 144959, 100},
        {NUMBER, 49929, 100},
        {TEXT, 25, 100},
        {TEXT, 14, 100},
        {TEXT, 30, 100},
    }},
    {decode_basket_expire, "basket_expire", 8, {
        {NUMBER, 7732, 100},
        {PRICE, 264650, 100},
        {NUMBER, 38832, 100},
        {NUMBER, 26100, 100},
        {NUMBER, 51541, 100},
        {PRICE, 338957, 100},
        {NUMBER, 49287, 100},
        {FIXED, 67108864, 100},
    }},
    {decode_basket_list, "basket_list", 5, {
        {FIXED, 536870912, 0},
        {NUMBER, 2077, 100},
        {PRICE, 430545, 100},
        {FIXED, 536870912, 100},
        {NUMBER, 2582, 100},
    }},
    {decode_basket_reject, "basket_reject", 8, {
        {NUMBER, 45731, 100},
        {NUMBER, 1785, 100},
        {NUMBER, 10355, 100},
        {NUMBER, 60332, 100},
        {NUMBER, 12458, 0},
        {FIXED, 16777216, 0},
        {PRICE, 675130, 100},
        {NUMBER, 62683, 100},
    }},
    {decode_basket_update, "basket_update", 8, {
        {PRICE, 342555, 100},
        {PRICE, 269183, 100},
        {PRICE, 280307, 100},
        {NUMBER, 34938, 100},
        {NUMBER, 64557, 0},
        {NUMBER, 8054, 100},
        {FIXED, 268435456, 100},
        {NUMBER, 36895, 100},
    }},
    {decode_broker_accept, "broker_accept", 5, {
        {NUMBER, 6807, 0},
        {NUMBER, 65111, 100},
        {NUMBER, 52370, 100},
        {FIXED, 524288, 100},
        {FIXED, 134217728, 100},
    }},
    {decode_broker_amend, "broker_amend", 8, {
        {NUMBER, 25048, 100},
        {NUMBER, 36926, 100},
        {PRICE, 961197, 100},
        {TEXT, 16, 100},
        {TEXT, 28, 100},
        {NUMBER, 13911, 100},
        {NUMBER, 43009, 100},
        {NUMBER, 47655, 100},
    }},
    {decode_broker_cancel, "broker_cancel", 5, {
        {PRICE, 584596, 100},
        {PRICE, 769242, 100},
        {PRICE, 359163, 100},
        {PRICE, 367217, 100},
        {PRICE, 816829, 100},
    }},
    {decode_broker_confirm, "broker_confirm", 6, {
        {NUMBER, 5690, 100},
        {FIXED, 8388608, 100},
        {TEXT, 31, 100},
        {PRICE, 573769, 100},
        {NUMBER, 61821, 100},
        {NUMBER, 16619, 100},
    }},
    {decode_broker_expire, "broker_expire", 7, {
        {NUMBER, 17260, 100},
        {PRICE, 269419, 0},
        {NUMBER, 9650, 100},
        {TEXT, 13, 100},
        {NUMBER, 4963, 100},
        {NUMBER, 54557, 100},
        {NUMBER, 56804, 0},
    }},
    {decode_broker_list, "broker_list", 5, {
        {PRICE, 91320, 100},
        {NUMBER, 64534, 0},
        {PRICE, 956560, 100},
        {FIXED, 2097152, 100},
        {FIXED, 134217728, 100},
    }},
    {decode_broker_reject, "broker_reject", 6, {
        {FIXED, 131072, 100},
        {NUMBER, 37224, 100},
        {FIXED, 4194304, 100},
        {NUMBER, 27353, 100},
        {NUMBER, 34710, 100},
        {NUMBER, 64675, 100},
    }},
    {decode_broker_update, "broker_update", 6, {
        {NUMBER, 25404, 100},
        {NUMBER, 51327, 100},
        {FIXED, 131072, 100},
        {PRICE, 1009835, 100},
        {NUMBER, 24099, 100},
        {NUMBER, 28250, 100},
    }},
    {decode_deposit_accept, "deposit_accept", 5, {
        {NUMBER, 59704, 100},
        {NUMBER, 46045, 100},
        {NUMBER, 42144, 100},
        {FIXED, 262144, 100},
        {NUMBER, 43173, 100},
    }},
    {decode_deposit_amend, "deposit_amend", 7, {
        {PRICE, 250559, 100},
        {NUMBER, 23978, 100},
        {NUMBER, 25204, 100},
        {PRICE, 342180, 100},
        {NUMBER, 12717, 0},
        {TEXT, 27, 0},
        {TEXT, 19, 100},
    }},
    {decode_deposit_cancel, "deposit_cancel", 7, {
        {TEXT, 13, 100},
        {NUMBER, 41491, 100},
        {NUMBER, 6046, 100},
        {NUMBER, 7822, 100},
        {FIXED, 536870912, 100},
        {NUMBER, 4757, 100},
        {TEXT, 12, 100},
    }},
    {decode_deposit_confirm, "deposit_confirm", 5, {
        {NUMBER, 37154, 100},
        {NUMBER, 60590, 100},
        {NUMBER, 21004, 100},
        {TEXT, 15, 100},
        {NUMBER, 49076, 100},
    }},
    {decode_deposit_expire, "deposit_expire", 8, {
        {NUMBER, 3509, 100},
        {NUMBER, 35275, 100},
        {NUMBER, 25773, 100},
        {NUMBER, 28456, 100},
        {NUMBER, 37583, 0},
        {TEXT, 31, 100},
        {FIXED, 67108864, 100},
        {TEXT, 21, 100},
    }},
    {decode_deposit_list, "deposit_list", 7, {
        {NUMBER, 57949, 100},
        {NUMBER, 37215, 100},
        {NUMBER, 39195, 100},
        {NUMBER, 8452, 100},
        {NUMBER, 46504, 100},
        {FIXED, 536870912, 100},
        {PRICE, 102715, 100},
    }},
    {decode_deposit_reject, "deposit_reject", 6, {
        {PRICE, 273836, 100},
        {NUMBER, 44537, 100},
        {NUMBER, 18134, 100},
        {PRICE, 737595, 100},
        {FIXED, 2097152, 100},
        {NUMBER, 18271, 0},
    }},
    {decode_deposit_update, "deposit_update", 7, {
        {NUMBER, 29396, 100},
        {NUMBER, 21419, 100},
        {PRICE, 196457, 100},
        {FIXED, 67108864, 100},
        {NUMBER, 39080, 100},
        {NUMBER, 36163, 100},
        {TEXT, 31, 100},
    }},
    {decode_margin_accept, "margin_accept", 5, {
        {NUMBER, 45881, 100},
        {NUMBER, 14247, 100},
        {NUMBER, 65622, 100},
        {NUMBER, 9462, 100},
        {PRICE, 736401, 100},
    }},
    {decode_margin_amend, "margin_amend", 8, {
        {TEXT, 10, 100},
        {PRICE, 478794, 100},
        {NUMBER, 568, 100},
        {NUMBER, 31594, 100},
        {NUMBER, 57664, 100},
        {TEXT, 13, 100},
        {NUMBER, 54580, 0},
        {PRICE, 342063, 100},
    }},
    {decode_margin_cancel, "margin_cancel", 5, {
        {PRICE, 161647, 100},
        {PRICE, 889537, 100},
        {NUMBER, 5007, 100},
        {NUMBER, 55641, 100},
        {NUMBER, 35218, 100},
    }},
    {decode_margin_confirm, "margin_confirm", 5, {
        {NUMBER, 41906, 100},
        {FIXED, 268435456, 100},
        {NUMBER, 44451, 100},
        {NUMBER, 26384, 100},
        {FIXED, 536870912, 100},
    }},
    {decode_margin_expire, "margin_expire", 5, {
        {FIXED, 524288, 100},
        {NUMBER, 290, 100},
        {FIXED, 536870912, 100},
        {PRICE, 631105, 100},
        {PRICE, 706432, 0},
    }},
    {decode_margin_list, "margin_list", 6, {
        {PRICE, 663093, 100},
        {NUMBER, 44510, 100},
        {PRICE, 505497, 100},
        {NUMBER, 26146, 100},
        {NUMBER, 7444, 100},
        {FIXED, 262144, 100},
    }},
    {decode_margin_reject, "margin_reject", 5, {
        {FIXED, 67108864, 100},
        {FIXED, 524288, 100},
        {PRICE, 761953, 100},
        {PRICE, 350953, 100},
        {PRICE, 469718, 100},
    }},
    {decode_margin_update, "margin_update", 5, {
        {TEXT, 16, 100},
        {TEXT, 13, 100},
        {NUMBER, 62997, 100},
        {PRICE, 240931, 100},
        {NUMBER, 23719, 100},
    }},
    {decode_order_accept, "order_accept", 5, {
        {PRICE, 968585, 100},
        {PRICE, 1040856, 100},
        {PRICE, 704753, 100},
        {TEXT, 31, 0},
        {PRICE, 45806, 0},
    }},
    {decode_order_amend, "order_amend", 7, {
        {NUMBER, 45400, 0},
        {FIXED, 67108864, 100},
        {NUMBER, 41370, 100},
        {NUMBER, 11178, 100},
        {NUMBER, 25949, 100},
        {FIXED, 524288, 0},
        {FIXED, 33554432, 0},
    }},
    {decode_order_cancel, "order_cancel", 8, {
        {NUMBER, 24568, 100},
        {NUMBER, 59416, 100},
        {NUMBER, 52879, 100},
        {NUMBER, 25826, 100},
        {PRICE, 93817, 100},
        {PRICE, 284850, 100},
        {NUMBER, 19537, 100},
        {NUMBER, 48462, 100},
    }},
    {decode_order_confirm, "order_confirm", 8, {
        {FIXED, 2097152, 100},
        {FIXED, 8388608, 100},
        {NUMBER, 31709, 100},
        {PRICE, 493359, 100},
        {TEXT, 11, 100},
        {PRICE, 627558, 100},
        {NUMBER, 23305, 0},
        {NUMBER, 882, 0},
    }},
    {decode_order_expire, "order_expire", 7, {
        {PRICE, 901079, 100},
        {FIXED, 65536, 100},
        {PRICE, 975742, 100},
        {NUMBER, 38913, 100},
        {NUMBER, 48329, 100},
        {PRICE, 1020370, 100},
        {PRICE, 622145, 100},
    }},
    {decode_order_list, "order_list", 5, {
        {NUMBER, 24550, 0},
        {PRICE, 201440, 100},
        {PRICE, 960741, 100},
        {NUMBER, 48556, 100},
        {NUMBER, 44032, 100},
    }},
    {decode_order_reject, "order_reject", 6, {
        {PRICE, 246752, 0},
        {NUMBER, 21081, 100},
        {PRICE, 630120, 100},
        {NUMBER, 19449, 100},
        {NUMBER, 28655, 100},
        {PRICE, 346502, 100},
    }},
    {decode_order_update, "order_update", 6, {
        {PRICE, 45543, 100},
        {NUMBER, 1970, 100},
        {FIXED, 134217728, 100},
        {PRICE, 547771, 100},
        {NUMBER, 21486, 0},
        {TEXT, 24, 100},
    }},
    {decode_quote_accept, "quote_accept", 8, {
        {NUMBER, 24503, 100},
        {TEXT, 26, 100},
        {NUMBER, 8927, 100},
        {NUMBER, 41822, 100},
        {TEXT, 22, 100},
        {NUMBER, 40285, 100},
        {TEXT, 10, 100},
        {TEXT, 17, 100},
    }},
    {decode_quote_amend, "quote_amend", 5, {
        {NUMBER, 54816, 100},
        {PRICE, 342071, 100},
        {FIXED, 1048576, 100},
        {NUMBER, 19262, 100},
        {PRICE, 531760, 100},
    }},
    {decode_quote_cancel, "quote_cancel", 6, {
        {PRICE, 964985, 100},
        {PRICE, 644981, 100},
        {TEXT, 29, 100},
        {TEXT, 30, 100},
        {NUMBER, 63503, 100},
        {TEXT, 20, 100},
    }},
    {decode_quote_confirm, "quote_confirm", 8, {
        {TEXT, 18, 100},
        {PRICE, 323546, 100},
        {TEXT, 13, 100},
        {TEXT, 24, 100},
        {NUMBER, 37822, 100},
        {TEXT, 31, 100},
        {PRICE, 72090, 100},
        {NUMBER, 16573, 100},
    }},
    {decode_quote_expire, "quote_expire", 8, {
        {PRICE, 81228, 100},
        {FIXED, 131072, 0},
        {FIXED, 1048576, 100},
        {TEXT, 8, 100},
        {NUMBER, 38866, 0},
        {FIXED, 16777216, 0},
        {NUMBER, 14203, 100},
        {PRICE, 188904, 100},
    }},
    {decode_quote_list, "quote_list", 8, {
        {PRICE, 151003, 100},
        {PRICE, 175276, 100},
        {PRICE, 73016, 100},
        {FIXED, 524288, 100},
        {FIXED, 524288, 100},
        {PRICE, 967776, 100},
        {FIXED, 67108864, 100},
        {TEXT, 19, 100},
    }},
    {decode_quote_reject, "quote_reject", 6, {
        {FIXED, 536870912, 100},
        {PRICE, 70759, 100},
        {NUMBER, 44787, 100},
        {TEXT, 24, 100},
        {NUMBER, 12991, 0},
        {NUMBER, 34970, 0},
    }},
    {decode_quote_update, "quote_update", 8, {
        {PRICE, 501080, 0},
        {FIXED, 262144, 0},
        {TEXT, 28, 0},
        {NUMBER, 18635, 100},
        {PRICE, 912560, 100},
        {NUMBER, 19889, 100},
        {TEXT, 20, 100},
        {PRICE, 282427, 100},
    }},
    {decode_session_accept, "session_accept", 8, {
        {NUMBER, 54003, 100},
        {NUMBER, 31943, 100},
        {NUMBER, 4718, 100},
        {NUMBER, 45912, 100},
        {NUMBER, 14660, 0},
        {NUMBER, 10846, 100},
        {NUMBER, 32398, 100},
        {NUMBER, 58811, 100},
    }},
    {decode_session_amend, "session_amend", 5, {
        {PRICE, 327209, 100},
        {FIXED, 8388608, 100},
        {PRICE, 948563, 100},
        {NUMBER, 3988, 100},
        {TEXT, 8, 100},
    }},
    {decode_session_cancel, "session_cancel", 7, {
        {NUMBER, 4377, 100},
        {NUMBER, 35018, 100},
        {NUMBER, 37972, 100},
        {NUMBER, 30391, 0},
        {NUMBER, 20229, 100},
        {PRICE, 337669, 100},
        {FIXED, 65536, 100},
    }},
    {decode_session_confirm, "session_confirm", 6, {
        {FIXED, 33554432, 0},
        {NUMBER, 42879, 100},
        {PRICE, 863162, 100},
        {NUMBER, 40599, 100},
        {FIXED, 65536, 100},
        {NUMBER, 61404, 0},
    }},
    {decode_session_expire, "session_expire", 7, {
        {TEXT, 19, 100},
        {NUMBER, 22476, 0},
        {NUMBER, 12663, 100},
        {NUMBER, 52070, 100},
        {PRICE, 230382, 0},
        {TEXT, 18, 100},
        {PRICE, 401027, 100},
    }},
    {decode_session_list, "session_list", 5, {
        {PRICE, 98267, 100},
        {TEXT, 25, 0},
        {FIXED, 268435456, 100},
        {TEXT, 14, 100},
        {NUMBER, 26753, 100},
    }},
    {decode_session_reject, "session_reject", 5, {
        {PRICE, 906813, 0},
        {NUMBER, 24259, 100},
        {PRICE, 666757, 100},
        {PRICE, 185723, 100},
        {FIXED, 33554432, 100},
    }},
    {decode_session_update, "session_update", 8, {
        {TEXT, 17, 100},
        {PRICE, 208466, 100},
        {TEXT, 27, 100},
        {PRICE, 306553, 100},
        {NUMBER, 59478, 100},
        {PRICE, 894142, 100},
        {NUMBER, 15724, 100},
        {NUMBER, 52188, 100},
    }},
    {decode_trade_accept, "trade_accept", 6, {
        {PRICE, 418265, 100},
        {FIXED, 524288, 100},
        {TEXT, 27, 100},
        {NUMBER, 23307, 100},
        {TEXT, 31, 100},
        {FIXED, 262144, 100},
    }},
    {decode_trade_amend, "trade_amend", 8, {
        {PRICE, 515409, 100},
        {NUMBER, 10231, 0},
        {PRICE, 32948, 100},
        {TEXT, 14, 100},
        {NUMBER, 60271, 0},
        {PRICE, 138559, 100},
        {NUMBER, 7682, 100},
        {FIXED, 67108864, 100},
    }},
    {decode_trade_cancel, "trade_cancel", 7, {
        {PRICE, 679248, 100},
        {NUMBER, 422, 100},
        {NUMBER, 42598, 100},
        {NUMBER, 21622, 100},
        {NUMBER, 5317, 100},
        {NUMBER, 17136, 100},
        {NUMBER, 29297, 100},
    }},
    {decode_trade_confirm, "trade_confirm", 8, {
        {NUMBER, 37208, 100},
        {NUMBER, 57827, 100},
        {PRICE, 597587, 100},
        {NUMBER, 61176, 0},
        {PRICE, 815184, 0},
        {PRICE, 276793, 100},
        {FIXED, 268435456, 100},
        {PRICE, 687268, 100},
    }},
    {decode_trade_expire, "trade_expire", 7, {
        {PRICE, 922183, 100},
        {PRICE, 952724, 100},
        {NUMBER, 21022, 100},
        {FIXED, 134217728, 100},
        {NUMBER, 7314, 100},
        {TEXT, 16, 100},
        {PRICE, 602064, 0},
    }},
    {decode_trade_list, "trade_list", 8, {
        {NUMBER, 55324, 100},
        {NUMBER, 32178, 100},
        {NUMBER, 58110, 100},
        {NUMBER, 39376, 100},
        {NUMBER, 57894, 100},
        {NUMBER, 3518, 100},
        {PRICE, 294435, 100},
        {NUMBER, 30163, 100},
    }},
    {decode_trade_reject, "trade_reject", 6, {
        {NUMBER, 56270, 100},
        {NUMBER, 33965, 100},
        {NUMBER, 7354, 100},
        {NUMBER, 45211, 100},
        {PRICE, 199631, 0},
        {FIXED, 4194304, 100},
    }},
    {decode_trade_update, "trade_update", 8, {
        {TEXT, 19, 0},
        {NUMBER, 6415, 100},
        {PRICE, 867874, 100},
        {NUMBER, 61120, 100},
        {PRICE, 229041, 0},
        {PRICE, 971536, 100},
        {TEXT, 30, 100},
        {PRICE, 740139, 100},
    }},
};
