// Templates and their arguments.

template <class T> struct Box { T value; Box(); ~Box(); template <class U> Box(U); template <class U> operator U(); void set(const T &); static T shared; struct Inner { void method(Box *); }; };
template <class T> Box<T>::Box() {}
template <class T> Box<T>::~Box() {}
template <class T> template <class U> Box<T>::Box(U) {}
template <class T> template <class U> Box<T>::operator U() { return U(); }
template <class T> void Box<T>::set(const T &) {}
template <class T> T Box<T>::shared;
template <class T> void Box<T>::Inner::method(Box *) {}
template <class A, class B> struct Pair { void swap(Pair &, A, B) {} };
template <class... T> struct Tuple { void take(T...) {} };
template <int N> struct Number { void get() {} };
template <class T, T V> struct Constant { void get() {} };
template <auto V> struct Auto { void get() {} };
template <int *P> struct Pointer { void get() {} };
template <int &R> struct Reference { void get() {} };
template <void (*F)(int)> struct Function { void get() {} };
template <template <class> class T> struct Template { void get() {} };
template <template <class...> class T, class... U> struct Apply { void get() {} };
template <bool B, char C, long long L, unsigned long long U> struct Mixed { void get() {} };

namespace lib { struct A { int field; void method(); int operator()(int) const; operator bool(); static void shared(int); template <class T> void generic(T); virtual void dispatched(int); }; struct B {}; enum Color { Red, Blue = 7 }; enum class Mode : unsigned char { On = 200 }; template <class T> struct List { List *next; struct Iterator { T *at; }; }; }
template <int lib::A::*P> struct Field { void get() {} };
template <void (lib::A::*P)()> struct Method { void get() {} };
template <class F, F f, class T, class U> struct Bound { void get() {} };
struct First { int f; virtual void one(); };
struct Second { int s; virtual void two(); };
struct Both : First, Second { void three(); };
struct Virtual : virtual First { void four(); };
struct Unknown;
template <int Both::*P, class T> struct BothField { void get() {} };
template <int Virtual::*P, class T> struct VirtualField { void get() {} };
template <int Unknown::*P, class T> struct UnknownField { void get() {} };
template <void (Both::*P)(), class T> struct BothMethod { void get() {} };
template <void (Virtual::*P)(), class T> struct VirtualMethod { void get() {} };
template <void (Unknown::*P)(), class T> struct UnknownMethod { void get() {} };

int target;
extern const int constTarget;
void targetFunction(int) {}
void overloaded(int) {}
void overloaded(char) {}

template struct Box<int>;
template struct Box<const char *>;
template struct Box<Box<lib::A>>;
template struct Pair<int, Pair<int, lib::A>>;
template struct Pair<lib::A *, lib::A *>;
template struct Pair<lib::List<lib::A>, lib::List<lib::A>::Iterator>;
template struct Tuple<>;
template struct Tuple<int>;
template struct Tuple<int, lib::A, lib::B, lib::A *>;
template struct Number<0>;
template struct Number<-1>;
template struct Number<10>;
template struct Number<0x12345>;
template struct Number<-2147483647 - 1>;
template struct Constant<bool, true>;
template struct Constant<char, 'x'>;
template struct Constant<unsigned long long, 0xffffffffffffffff>;
template struct Constant<lib::Color, lib::Blue>;
template struct Constant<lib::Mode, lib::Mode::On>;
template struct Constant<decltype(nullptr), nullptr>;
template struct Auto<5>;
template struct Auto<'c'>;
template struct Auto<true>;
template struct Auto<lib::Red>;
template struct Auto<&target>;
template struct Auto<&targetFunction>;
template struct Auto<&lib::A::shared>;
template struct Auto<nullptr>;
template struct Pointer<&target>;
template struct Pointer<nullptr>;
template struct Reference<target>;
template struct Function<&targetFunction>;
template struct Function<overloaded>;
template struct Function<nullptr>;
template struct Template<Box>;
template struct Template<lib::List>;
template struct Apply<Pair, int, lib::A>;
template struct Mixed<false, -1, -5000000000, 1>;
template struct Field<&lib::A::field>;
template struct Field<nullptr>;
template struct Method<&lib::A::method>;
template struct Method<nullptr>;
template struct Bound<void (lib::A::*)(), &lib::A::method, lib::B, lib::B>;
template struct Bound<void (*)(int), &lib::A::shared, lib::B *, lib::A *>;
template struct Bound<void (lib::A::*)(int), &lib::A::dispatched, int, char>;
template struct BothField<nullptr, int>;
template struct VirtualField<nullptr, lib::A>;
template struct UnknownField<nullptr, lib::A>;
template struct BothMethod<&Both::three, int>;
template struct BothMethod<nullptr, int>;
template struct VirtualMethod<&Virtual::four, lib::A>;
template struct VirtualMethod<nullptr, lib::A>;
template struct UnknownMethod<nullptr, lib::A>;
template struct Box<int[3]>;

template <class T> struct Type { void get() {} };
template struct Type<void>;
template struct Type<const int>;
template struct Type<volatile lib::A>;
template struct Type<int *const>;
template struct Type<int &>;
template struct Type<int &&>;
template struct Type<const int[2]>;
template struct Type<int[]>;
template struct Type<int[2][3]>;
template struct Type<lib::A[4]>;
template struct Type<const lib::A *const[4]>;
template struct Type<void()>;
template struct Type<int(int, ...)>;
template struct Type<void() noexcept>;
template struct Type<void() const>;
template struct Type<int(lib::A) const &>;
template struct Type<void (*)(lib::A, lib::A)>;
template struct Type<void (&)(int)>;
template struct Type<void (lib::A::*)(int) const>;
template struct Type<int lib::A::*>;
template struct Type<lib::Color>;
template struct Type<Type<Type<int>>>;
template struct Type<decltype(nullptr)>;
template struct Type<lib::List<int>::Iterator>;

template <class T> T twice(T t) { return t; }
template <class T, class U> auto convert(U u) -> T { return T(u); }
template <class... T> void all(T &&...) {}
template <class F, class... A> auto call(F f, A... a) { return f(a...); }
template <int N, class T> T *nth(T (&a)[N]) { return a; }
template <class T> void ref(T &) {}
template <class T> T constant = T();
template <class T> const T *constPointer = nullptr;
template <class T> constexpr bool isBox = false;
void use() {
  twice(1); twice('c'); twice(lib::A()); twice<const char *>("s");
  convert<long>(3); convert<lib::A *>((void *)nullptr ? 0 : 0);
  int i = 0; const lib::A a{};
  all(); all(i); all(1, a, 'c'); all(i, i, a, a);
  call([](int x) { return x; }, 3); call(targetFunction, 1);
  int array[5]; nth(array); lib::A as[2]; nth(as);
  ref(array); ref(a); ref(targetFunction); ref("text");
  constant<int>++; constant<lib::A>.field++; &constPointer<int>; constPointer<lib::A> = &a;
  Box<int> b(3.0); Box<int> c('x'); (void)(long)b; (void)(const char *)b; Box<Box<int>> d(b);
  Box<int>::Inner().method(&b);
  lib::A().generic(1); lib::A().generic(a);
  (void)&isBox<int>;
}
template <class T> void lib::A::generic(T) {}
void lib::A::method() {}
int lib::A::operator()(int) const { return 0; }
lib::A::operator bool() { return true; }
void lib::A::dispatched(int) {}
void lib::A::shared(int) {}

template <class T> struct Outer { template <class U> struct Inner { template <class V> static void f(T, U, V) {} }; void friendly() { struct Local { void g(T) {} }; Local().g(T()); } };
void useOuter() { Outer<int>::Inner<char>::f(1, 'c', lib::A()); Outer<lib::A>::Inner<Outer<lib::A>>::f(lib::A(), {}, 1L); Outer<char>().friendly(); }
template <class T> inline T &instance() { static T t; return t; }
void useInstance() { instance<int>(); instance<lib::A>(); }
template <class T> requires(sizeof(T) > 1) void constrained(T) {}
void useConstrained() { constrained(1); }
