// Structured exceptions of Windows, without headers.
volatile int sink;
__declspec(noinline) int risky(int *p) { return *p + sink; }

__declspec(dllexport) int outer(int *p, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    __try {
      __try {
        sum += risky(p);
      } __except (i & 1) {
        sum += 3;
      }
    } __except (1) {
      sum -= 5;
    }
  }
  return sum;
}

int __C_specific_handler(void *a, void *b, void *c, void *d) { return sink; }
