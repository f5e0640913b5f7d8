// String literals have symbols so that the linker can merge them.

const char *narrow[] = {"", "a", "hello world", "tab\there", "new\nline", "quote\"s and 'others'", "back\\slash", "\x01\x7f\x80\xff",
  "a,b/c\\d:e.f g\nh\ti'j-k", "$%&()*+;<=>?@[]^_`{|}~!#", "exactly thirty-one characters..", "exactly thirty-two characters...",
  "a literal that is so long that its name holds only the first part of it", "zero\0inside", "\0\0\0", "caf\xc3\xa9"};
const wchar_t *wide[] = {L"", L"a", L"hello world", L"\x20ac\x3b1", L"exactly sixteen.", L"a literal that is so long that its name holds only the first part of it",
  L"tab\t quote\" zero\0inside", L"\xffff\x0001"};
const char8_t *utf8[] = {u8"utf-8 \u00e9"};
const char16_t *utf16[] = {u"utf-16", u"\u20ac uro", u"a literal that is so long that its name holds only the first part of it", u"a"};
const char32_t *utf32[] = {U"utf-32", U"\U0001f600", U"a literal that is so long that its name holds only the first part of it", U"a"};
