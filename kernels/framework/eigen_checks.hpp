// To be included before Eigen: what Eigen asserts of matrices that it computes itself, as that a
// decomposition has converged, fails a kernel and not the process. Matrices of users with huge
// elements break such claims.
#pragma once

#include <stdexcept>
#include <string>

namespace troupe {

struct EigenRefusal : std::domain_error {
  using std::domain_error::domain_error;
};

[[noreturn, gnu::cold]] inline void refuse_by_eigen(const char* claim) {
  throw EigenRefusal(std::string("a matrix's decomposition failed: ") + claim);
}

} // namespace troupe

#define eigen_assert(claim) ((claim) ? static_cast<void>(0) : ::troupe::refuse_by_eigen(#claim))
