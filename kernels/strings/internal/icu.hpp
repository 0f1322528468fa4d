// ICU, opened when it is needed first: its tables weigh 31 MB, and few graphs ask for them.
#pragma once

#include <unicode/ucnv.h>
#include <unicode/uscript.h>

#include "core/base/status.hpp"

namespace troupe::strings {

/// The functions of ICU that kernels call. Safe for any thread.
struct Icu {
  decltype(&::ucnv_open) open_converter = nullptr;
  decltype(&::ucnv_close) close_converter = nullptr;
  decltype(&::ucnv_setToUCallBack) set_to_unicode_callback = nullptr;
  decltype(&::UCNV_TO_U_CALLBACK_SUBSTITUTE) substitute = nullptr;
  decltype(&::ucnv_getNextUChar) next_code_point = nullptr;
  decltype(&::uscript_getScript) script_of = nullptr;
};

/// ICU of the version that troupe was built with; never closed. FAILED_PRECONDITION where the
/// machine has it not.
Result<const Icu*> icu();
/// From a library of another name, for tests.
Result<Icu> open_icu(const char* library);

} // namespace troupe::strings
