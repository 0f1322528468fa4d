#include "kernels/strings/internal/icu.hpp"

#include <dlfcn.h>

#include "core/base/strings.hpp"

// ICU's headers give each function the version in its name: ucnv_open_72.
#define TROUPE_TEXT(name) #name
#define TROUPE_TEXT_OF(name) TROUPE_TEXT(name)
#define TROUPE_ICU(function) TROUPE_TEXT_OF(function)

namespace troupe::strings {
namespace {

constexpr auto library_name = "libicuuc.so." U_ICU_VERSION_SHORT;

} // namespace

Result<Icu> open_icu(const char* library) {
  void* const opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  std::string missing;
  if (!opened)
    missing = ::dlerror();
  const auto load = [&]<class Function>(Function& to, const char* name) {
    if (!missing.empty())
      return;
    to = reinterpret_cast<Function>(::dlsym(opened, name));
    if (!to)
      missing = str_cat("it has no ", name);
  };
  Icu out;
  load(out.open_converter, TROUPE_ICU(ucnv_open));
  load(out.close_converter, TROUPE_ICU(ucnv_close));
  load(out.set_to_unicode_callback, TROUPE_ICU(ucnv_setToUCallBack));
  load(out.substitute, TROUPE_ICU(UCNV_TO_U_CALLBACK_SUBSTITUTE));
  load(out.next_code_point, TROUPE_ICU(ucnv_getNextUChar));
  load(out.script_of, TROUPE_ICU(uscript_getScript));
  if (missing.empty())
    return out;
  return failed_precondition(
      str_cat("encodings besides UTF and Latin-1, and scripts of characters, need ", library,
              ", which cannot be used here: ", missing, "; install it (Debian: libicu",
              U_ICU_VERSION_SHORT, ") on the machine of this device"));
}

Result<const Icu*> icu() {
  static const Result<Icu> opened = open_icu(library_name);
  if (!opened.ok())
    return opened.status();
  return &*opened;
}

} // namespace troupe::strings
