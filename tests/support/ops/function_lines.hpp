// FunctionLines: a graph in text form whose nodes may run functions, which are in text form too.
// What they submit runs on threads of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ops/interpreter.hpp"

namespace troupe::testing {

class FunctionLines {
public:
  FunctionLines();
  /// Returns when all that was submitted has ended, and mutants of what was run have been run.
  ~FunctionLines();
  FunctionLines(const FunctionLines&) = delete;

  TestDevice& device();
  void add(std::string_view lines);
  /// A function whose body is the lines. `args` are names with types, "x: int64, y: float", that
  /// the lines may use; `results` names, "y, z:1", with "^node" for what is to run besides.
  void function(const std::string& name, std::string_view args, std::string_view results,
                std::string_view lines);
  /// The values of the fetches, or the error.
  Result<std::vector<Tensor>> values(const std::vector<std::string>& fetches,
                                     const Feeds& feeds = {});
  /// "ok" and the values of the fetches as literals, or the error.
  std::string run(const std::vector<std::string>& fetches);

private:
  /// What was done, to be done again with other numbers.
  struct Said {
    enum class What : std::uint8_t { lines, function, run } what = What::lines;
    std::string name = {}, args = {}, results = {}, lines = {};
    std::vector<std::string> fetches = {};
    Feeds feeds = {};
  };
  explicit FunctionLines(std::unique_ptr<Device> device);
  Status define(const Said& function);
  void run_mutants() const;
  void run_again(const std::vector<Said>& said);

  struct Home;
  class Running;
  std::shared_ptr<Home> home_;
  std::shared_ptr<Running> running_;
  std::string all_;
  std::vector<Said> said_; ///< empty in a mutant
  bool is_mutant_ = false;
};

} // namespace troupe::testing
