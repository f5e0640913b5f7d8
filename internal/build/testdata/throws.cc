// A program that throws, without headers, so that it compiles for every target.
struct Error { int code; };
struct Cleaner { int *count; ~Cleaner() { ++*count; } };

__attribute__((noinline)) extern "C" int risky(int x) {
  if (x % 3 == 0) throw Error{x};
  if (x % 5 == 0) throw x;
  return x * 2;
}

__attribute__((noinline)) extern "C" int middle(int x, int *cleaned) {
  Cleaner c{cleaned};
  return risky(x) + 1;
}

__attribute__((noinline)) extern "C" int outer(int n, int *cleaned) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    try {
      sum += middle(i, cleaned);
    } catch (const Error &e) {
      sum += e.code & 1;
    } catch (int v) {
      sum -= v;
    }
  }
  return sum;
}

int main(int argc, char **argv) {
  int cleaned = 0;
  return outer(48 * argc, &cleaned) + cleaned == 1;
}
