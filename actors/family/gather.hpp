// Requests to many, answered together.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace troupe {

/// A callable without arguments that calls `done` when it is called for the `count`th time: each
/// answer and each error of `count` requests calls it once. With a count of 0 `done` is called now.
template <class Done>
auto gather(std::size_t count, Done done) {
  if (count == 0)
    done();
  return [missing = std::make_shared<std::size_t>(count), done = std::move(done)]() mutable {
    if (--*missing == 0)
      done();
  };
}

} // namespace troupe
