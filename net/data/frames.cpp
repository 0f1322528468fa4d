#include "net/data/frames.hpp"

#include <sys/random.h>

#include "core/base/check.hpp"

namespace troupe::data {

Token make_token() {
  Token out;
  TROUPE_CHECK(::getrandom(out.data(), out.size(), 0) == static_cast<ssize_t>(out.size()),
               "the system gives random bytes");
  return out;
}

bool same(const Token& a, const Token& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

// The token is used up when the connection stands.
std::uint64_t lane_of(const Token& token) {
  std::uint64_t out = 0;
  std::memcpy(&out, token.data(), sizeof out);
  return out | 1;
}

} // namespace troupe::data
