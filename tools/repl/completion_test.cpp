#include "tools/repl/completion.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

using Words = std::vector<std::string>;

CompletionSources some_names() {
  CompletionSources out;
  out[ArgumentKind::node] = [] { return Words{"layer/w", "layer/b", "loss", "loss"}; };
  out[ArgumentKind::device] = [] { return Words{"/job:ps/task:0", "/job:worker/task:0"}; };
  out[ArgumentKind::op] = [] { return Words{"MatMul", "MatrixDiag", "Mul"}; };
  out[ArgumentKind::command] = repl_command_names;
  out[ArgumentKind::step_verb] = [] { return Words{"why"}; };
  out[ArgumentKind::step] = [] { return Words{"4711", "4712"}; };
  return out;
}

} // namespace

TEST_CASE("completion: the first word of a statement is a command") {
  CHECK(complete("st", some_names()) == Words{"status", "step", "steps"});
  CHECK(complete("run loss; time", some_names()) == Words{"timeline"});
  CHECK(complete("", some_names()).size() == repl_commands().size());
  CHECK(complete("xyz", some_names()).empty());
}

TEST_CASE("completion: a running step after why, in both spellings") {
  CHECK(complete("why 47", some_names()) == Words{"4711", "4712"});
  CHECK(complete("step ", some_names()) == Words{"why"});
  CHECK(complete("step why 4712", some_names()) == Words{"4712"});
}

TEST_CASE("completion: an argument is what its command wants there") {
  CHECK(complete("run l", some_names()) == Words{"layer/b", "layer/w", "loss"});
  CHECK(complete("run loss layer/w -> lay", some_names()) == Words{"layer/b", "layer/w"});
  CHECK(complete("ops Mat", some_names()) == Words{"MatMul", "MatrixDiag"});
  CHECK(complete("place /job:p", some_names()) == Words{"/job:ps/task:0"});
  CHECK(complete("graph lo", some_names()) == Words{"loss"});
  CHECK(complete("help stat", some_names()) == Words{"status"});
}

TEST_CASE("completion: nothing after the last argument, an unknown command or a wrong bracket") {
  CHECK(complete("ops MatMul M", some_names()).empty());
  CHECK(complete("steps 1 2 ", some_names()).empty());
  CHECK(complete("devices ", some_names()).empty());
  CHECK(complete("rnu l", some_names()).empty());
}

TEST_CASE("completion: a statement goes on over lines") {
  CHECK(complete("run loss \\\nlayer/", some_names()) == Words{"layer/b", "layer/w"});
}

TEST_CASE("completion: files and folders, hidden ones only when asked for") {
  namespace fs = std::filesystem;
  fs::path folder = fs::temp_directory_path() / str_cat("troupe-completion-", getpid());
  fs::create_directories(folder / "graphs");
  for (const char* name : {"a.graph", "b.npy", ".hidden"})
    std::ofstream(folder / name) << "x";
  std::string base = folder.string() + "/";
  CHECK(complete("load " + base, {}) == Words{base + "a.graph", base + "b.npy", base + "graphs/"});
  CHECK(complete("load " + base + "a", {}) == Words{base + "a.graph"});
  CHECK(complete("load " + base + ".h", {}) == Words{base + ".hidden"});
  CHECK(complete("load " + base + "none/", {}).empty());
  CHECK(complete("feed x " + base + "b", {}) == Words{base + "b.npy"});
  fs::remove_all(folder);
}

} // namespace troupe
