// ICU is opened when it is needed; where it is missing, whoever needs it is told.
#include <doctest/doctest.h>

#include "kernels/strings/internal/icu.hpp"

namespace troupe::strings {

TEST_CASE("ICU: opened once") {
  auto first = icu();
  REQUIRE_MESSAGE(first.ok(), first.status().to_string());
  CHECK(*icu() == *first);
  UErrorCode error = U_ZERO_ERROR;
  CHECK((*first)->script_of('a', &error) == USCRIPT_LATIN);
}

TEST_CASE("ICU: a machine without it, and a library that is another") {
  const Status missing = open_icu("libicuuc.so.0").status();
  CHECK(missing.code() == Code::failed_precondition);
  CHECK(missing.message().find("need libicuuc.so.0, which cannot be used here: ") !=
        std::string::npos);
  CHECK(missing.message().find("install it (Debian: libicu" U_ICU_VERSION_SHORT ")") !=
        std::string::npos);
  CHECK(open_icu("libm.so.6").status().message().find("it has no ucnv_open_") != std::string::npos);
}

} // namespace troupe::strings
