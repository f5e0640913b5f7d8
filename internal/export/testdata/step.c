/* Hot and cold calls, and an indirect call with a usual target. No line has
   code of two blocks, so that profiles without discriminators can tell all. */
#include <stdio.h>

typedef long (*operation)(long);

static long
twice(long x)
{
  return x * 2 + 1;
}

static long
mixed(long x)
{
  x ^= x << 7;
  x ^= x >> 9;
  return x & 0xfffff;
}

static long
rare(long x)
{
  printf("rare %ld\n", x);
  x += 17;
  printf("then %ld\n", x);
  x *= 3;
  return x % 1000;
}

operation operations[] = {twice, twice, mixed, twice};

static long
step(long x)
{
  if (x % 4099 == 0)
    return rare(x);
  x += mixed(x);
  operation f = operations[x & 3];
  x += f(x);
  if (x < 0)
    x = -x;
  return x;
}

int
main(void)
{
  long x = 1;
  long i = 0;
  while (i < 20000)
    {
      x = step(x) & 0xfffff;
      i++;
    }
  printf("%ld\n", x);
  return 0;
}
