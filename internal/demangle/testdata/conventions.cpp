// Calling conventions; those of 32-bit code differ.

void __cdecl cdeclFunction(int) {}
void __stdcall stdcallFunction(int, int *) {}
void __fastcall fastcallFunction(int) {}
void __vectorcall vectorcallFunction(int) {}
__attribute__((regcall)) void regcallFunction(int) {}
__attribute__((swiftcall)) void swiftcallFunction(int) {}
#ifdef _WIN64
__attribute__((swiftasynccall)) void swiftasyncFunction(int) {}
#endif
void takes(void(__stdcall *)(int), int(__fastcall *)(), void(__vectorcall *)(), void (*)()) {}
struct Com { virtual long __stdcall QueryInterface(const Com &, void **); virtual ~Com(); void __cdecl variadic(const char *, ...); int __fastcall fast(int) const; };
long Com::QueryInterface(const Com &, void **) { return 0; }
Com::~Com() {}
void Com::variadic(const char *, ...) {}
int Com::fast(int) const { return 0; }
struct More : virtual Com { virtual void extra(); long __stdcall QueryInterface(const Com &, void **); };
void More::extra() {}
long More::QueryInterface(const Com &, void **) { return 0; }
void pointers(void (Com::*)(int), long (__stdcall Com::*)(const Com &, void **), int (__fastcall Com::*)(int) const) {}
void create() { new More; }
