// Types of parameters, results and variables.

void builtin(bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
             long long, unsigned long long, float, double, long double, wchar_t, char8_t, char16_t, char32_t,
             decltype(nullptr)) {}
void variadic(const char *, ...) {}
void onlyDots(...) {}
long sum(unsigned long long, unsigned long long, unsigned long long *) { return 0; }

struct Struct { int member; const char *text; void method(int); void constMethod() const; };
class Class;
union Union;
enum Enum : int;
enum class Scoped : short;
namespace outer { namespace inner { struct Deep { struct Nested; }; enum E : int; } }

void tags(Struct *, Class *, Union *, Enum, Scoped, outer::inner::Deep *, outer::inner::Deep::Nested *, outer::inner::E) {}
void pointers(int *, const int *, volatile int *, const volatile int *, int *const, int *volatile, int **, int *const *,
              const int *const *, void ***, int *__restrict, const char *__restrict) {}
void unaligned(__unaligned int *, const __unaligned int *, __unaligned Struct *) {}
void references(int &, const int &, volatile int &, const volatile Struct &, int &&, const Struct &&, int *&, Class *&&) {}
void arrays(int (*)[3], const int (*)[3], int (&)[4], int (*)[2][5], const Struct (&)[1], int *(*)[7], int[], const int[][6]) {}
void functions(void (*)(), int (*)(int, ...), int *(*)(const char *), void (&)(Struct *), void (*const)(), void (**)(),
               void (*(*)(int))(short), void (*[4])(), void (*)() noexcept) {}
void members(int Struct::*, const int Struct::*, const char *Struct::*, void (Struct::*)(int), void (Struct::*)() const,
             void (Struct::*)() const volatile, void (Struct::*)() &, void (Struct::*)() const &&, int (*Struct::*)(int),
             int (Struct::*)[3], void (Struct::**)(int), void (Class::*)(), void (Struct::*)() noexcept) {}
void repeated(Struct *, Struct *, Class &, Class &, const Struct *, Struct *, void (*)(Struct *), void (*)(Struct *)) {}
void many(Struct *, Class *, Union *, int *, char *, long *, short *, float *, double *, bool *, wchar_t *, wchar_t *, Struct *,
          bool *, wchar_t *) {}
void manyNames(outer::inner::Deep *, outer::inner::E, outer::inner::E *, Struct *, outer::inner::Deep::Nested *, Class *) {}

int *result() { return 0; }
const int *constResult() { return 0; }
Struct byValue() { return {}; }
const Struct constByValue() { return {}; }
Struct &reference(Struct &s) { return s; }
void (*handler(void (*h)(int)))(int) { return h; }
void (*(*handlers(short))(long))(int) { return 0; }
int (*matrix())[3] { return 0; }
int (&row(int))[4];
int (&row(int))[4] { static int r[4]; return r; }
int Struct::*offset() { return &Struct::member; }
void (Struct::*pick(bool))(int) { return &Struct::method; }
auto deduced() { return 1; }
decltype(auto) exactly() { return 1; }
auto *deducedPointer() { static int i; return &i; }

int variable;
extern const int constant = 1;
volatile int port;
const volatile int status = 0;
int *pointer;
const int *toConstant;
int *const fixed = 0;
extern int *const *levels;
int *const *levels;
extern int *const exported = nullptr;
extern const char *const label = "label";
int array[3];
extern const int table[2][3] = {};
extern int *const pointerTable[2] = {};
int (*toArray)[3];
void (*callback)(int);
extern void (*const fixedCallback)(int) = nullptr;
void (*callbacks[3])(int);
int (*(*toCallback))(short);
Struct object;
extern const Struct constObject = {};
Enum enumerator;
int &alias = variable;
const int &constAlias = variable;
int &&moved = static_cast<int &&>(variable);
int Struct::*data = &Struct::member;
const int Struct::*constData;
const char *Struct::*textData;
void (Struct::*code)(int);
void (Struct::*constCode)() const;
int *__restrict alone;
decltype(nullptr) null;
struct { int i; } unnamed;
enum { One } unnamedEnum;
void useUnnamed(decltype(unnamed) *, decltype(unnamedEnum)) {}
