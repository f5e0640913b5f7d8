// Members, operators, thunks, tables and type information.

typedef decltype(sizeof 0) size_t;
namespace std { enum class align_val_t : size_t {}; struct strong_ordering {}; }

struct Plain {
  Plain();
  Plain(int);
  Plain(const Plain &);
  Plain(Plain &&);
  ~Plain();
  Plain &operator=(const Plain &);
  Plain &operator=(Plain &&) noexcept;
  void quiet() noexcept;
  void constant() const;
  void changing() volatile;
  void both() const volatile;
  void left() &;
  void constLeft() const &;
  void right() &&;
  void exact() __restrict;
  static void shared(int);
  static int count;
  static const Plain *first;
  static constexpr int limit = 3;
  Plain operator+(const Plain &) const;
  Plain operator-() const;
  Plain operator*(int);
  Plain operator/(int);
  Plain operator%(int);
  Plain operator^(int);
  Plain operator&(int);
  Plain operator|(int);
  Plain operator~();
  bool operator!();
  bool operator<(const Plain &);
  bool operator>(const Plain &);
  bool operator<=(const Plain &);
  bool operator>=(const Plain &);
  bool operator==(const Plain &);
  bool operator!=(const Plain &);
  bool operator&&(int);
  bool operator||(int);
  Plain &operator+=(int);
  Plain &operator-=(int);
  Plain &operator*=(int);
  Plain &operator/=(int);
  Plain &operator%=(int);
  Plain &operator^=(int);
  Plain &operator&=(int);
  Plain &operator|=(int);
  Plain &operator<<=(int);
  Plain &operator>>=(int);
  Plain &operator++();
  Plain operator++(int);
  Plain &operator--();
  Plain operator--(int);
  Plain *operator->();
  int Plain::*operator->*(int);
  Plain &operator,(int);
  int operator()(int, char);
  int &operator[](size_t);
  Plain &operator<<(int);
  Plain &operator>>(int);
  std::strong_ordering operator<=>(int);
  operator int() const;
  operator const char *();
  operator Plain *&();
  explicit operator bool();
  typedef void (*Handler)(int);
  operator Handler();
  static void *operator new(size_t);
  static void operator delete(void *);
  static void *operator new[](size_t);
  static void operator delete[](void *);
protected:
  void guarded();
  static void guardedShared();
  static int guardedCount;
private:
  void hidden();
  static void hiddenShared();
  static int hiddenCount;
};
Plain::Plain() {}
Plain::Plain(int) {}
Plain::Plain(const Plain &) {}
Plain::Plain(Plain &&) {}
Plain::~Plain() {}
Plain &Plain::operator=(const Plain &) { return *this; }
Plain &Plain::operator=(Plain &&) noexcept { return *this; }
void Plain::quiet() noexcept {}
void Plain::constant() const {}
void Plain::changing() volatile {}
void Plain::both() const volatile {}
void Plain::left() & {}
void Plain::constLeft() const & {}
void Plain::right() && {}
void Plain::exact() __restrict {}
void Plain::shared(int) {}
int Plain::count;
const Plain *Plain::first;
Plain Plain::operator+(const Plain &) const { return 1; }
Plain Plain::operator-() const { return 1; }
Plain Plain::operator*(int) { return 1; }
Plain Plain::operator/(int) { return 1; }
Plain Plain::operator%(int) { return 1; }
Plain Plain::operator^(int) { return 1; }
Plain Plain::operator&(int) { return 1; }
Plain Plain::operator|(int) { return 1; }
Plain Plain::operator~() { return 1; }
bool Plain::operator!() { return 1; }
bool Plain::operator<(const Plain &) { return 1; }
bool Plain::operator>(const Plain &) { return 1; }
bool Plain::operator<=(const Plain &) { return 1; }
bool Plain::operator>=(const Plain &) { return 1; }
bool Plain::operator==(const Plain &) { return 1; }
bool Plain::operator!=(const Plain &) { return 1; }
bool Plain::operator&&(int) { return 1; }
bool Plain::operator||(int) { return 1; }
Plain &Plain::operator+=(int) { return *this; }
Plain &Plain::operator-=(int) { return *this; }
Plain &Plain::operator*=(int) { return *this; }
Plain &Plain::operator/=(int) { return *this; }
Plain &Plain::operator%=(int) { return *this; }
Plain &Plain::operator^=(int) { return *this; }
Plain &Plain::operator&=(int) { return *this; }
Plain &Plain::operator|=(int) { return *this; }
Plain &Plain::operator<<=(int) { return *this; }
Plain &Plain::operator>>=(int) { return *this; }
Plain &Plain::operator++() { return *this; }
Plain Plain::operator++(int) { return 1; }
Plain &Plain::operator--() { return *this; }
Plain Plain::operator--(int) { return 1; }
Plain *Plain::operator->() { return this; }
int Plain::*Plain::operator->*(int) { return 0; }
Plain &Plain::operator,(int) { return *this; }
int Plain::operator()(int, char) { return 1; }
int &Plain::operator[](size_t) { return count; }
Plain &Plain::operator<<(int) { return *this; }
Plain &Plain::operator>>(int) { return *this; }
std::strong_ordering Plain::operator<=>(int) { return {}; }
Plain::operator int() const { return 1; }
Plain::operator const char *() { return 0; }
Plain::operator Plain *&() { static Plain *p; return p; }
Plain::operator bool() { return 1; }
Plain::operator Plain::Handler() { return 0; }
void *Plain::operator new(size_t) { return &count; }
void Plain::operator delete(void *) {}
void *Plain::operator new[](size_t) { return &count; }
void Plain::operator delete[](void *) {}
void Plain::guarded() {}
void Plain::guardedShared() {}
int Plain::guardedCount;
void Plain::hidden() {}
void Plain::hiddenShared() {}
int Plain::hiddenCount;

unsigned long long operator""_km(unsigned long long n) { return n; }
long double operator""_deg(long double n) { return n; }
Plain operator+(int, const Plain &) { return 1; }

struct Base { virtual ~Base(); virtual void act(int); virtual Base *clone() const; private: virtual void secret(); };
struct Other { virtual ~Other(); virtual void help(); protected: virtual void guard(); int field; };
struct Multi : Base, Other { ~Multi(); void act(int) override; void help() override; Multi *clone() const override; void guard() override; };
struct VirtualA : virtual Base { VirtualA(); void act(int) override; int a; };
struct VirtualB : virtual Base, virtual Other { VirtualB(); void help() override; int b; };
struct Diamond : VirtualA, VirtualB { Diamond(); ~Diamond(); void act(int) override; void help() override; };
struct Private : private Base, protected virtual Other { Private(); void help() override; };
Base::~Base() {}
void Base::act(int) {}
Base *Base::clone() const { return 0; }
void Base::secret() {}
Other::~Other() {}
void Other::help() {}
void Other::guard() {}
Multi::~Multi() {}
void Multi::act(int) {}
void Multi::help() {}
void Multi::guard() {}
Multi *Multi::clone() const { return 0; }
VirtualA::VirtualA() {}
void VirtualA::act(int) {}
VirtualB::VirtualB() {}
void VirtualB::help() {}
Diamond::Diamond() {}
Diamond::~Diamond() {}
void Diamond::act(int) {}
void Diamond::help() {}
Private::Private() {}
void Private::help() {}
void make() { new Multi; new VirtualA; new VirtualB; new Diamond; new Private; delete new Plain[3]; Plain p[4]; }
void (Base::*toVirtual())(int) { return &Base::act; }
Base *cast(Other *o) { return dynamic_cast<Base *>(o); }

void scoped() {
  struct Local { int i; virtual void method() { static int n; n++; } };
  Local l;
  l.method();
  static Plain once;
  { static Plain twice(1); }
  if (true) { static int counter; struct Local { virtual void method() {} }; Local().method(); counter++; }
}
inline Plain &single() { static Plain instance; return instance; }
inline int &number() { static int n = single(); return n; }
thread_local Plain perThread;
Plain global;
static Plain local;
struct Holder { static Plain member; };
Plain Holder::member;
void use() { single(); number(); global = local; perThread.left(); }

namespace {
struct Anonymous { virtual ~Anonymous() {} virtual void method(Anonymous *, int) {} static int n; };
int Anonymous::n;
void anonymous(Anonymous *, const Anonymous &) {}
}
void useAnonymous() { anonymous(new Anonymous, Anonymous()); Anonymous::n++; }
namespace named { namespace { struct Inner { virtual void method(Inner *) {} }; } void f() { (new Inner)->method(0); } }
inline namespace v1 { void versioned() {} }

void lambdas() {
  auto plain = [](int i) { return i; };
  auto nested = [&](auto x) { return [=] { return x; }(); };
  plain(nested(1));
  nested('c');
}
int initialized = [] { return 3; }();
struct WithLambda { int field = [] { return 1; }(); void method(int n = [](int i) { return i; }(2)); };
void WithLambda::method(int) { [this] { return field; }(); }
void callMethod() { WithLambda().method(); }

extern "C" { void cFunction(int) {} int cVariable; }
void withC(void (*)(int)) {}
void callC() { withC(cFunction); cVariable = 1; }

struct Exception { Exception(); Exception(const Exception &); ~Exception(); };
struct Derived : Exception { Derived(); };
void raise(int i) { if (i) throw Derived(); throw i; }
void handle() { try { raise(1); } catch (const Exception &) { Plain p; raise(0); } catch (...) {} }
