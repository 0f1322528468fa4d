#include "storage/files/allowed_files.hpp"

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "storage/files/file_system.hpp"

using namespace troupe;

namespace {

/// allowed/ inside/ and outside/ with a file each, and links.
struct Folders {
  std::filesystem::path path;
  std::shared_ptr<AllowedFiles> files;
  Folders() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "troupe-allowed-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = std::filesystem::canonical(pattern);
    for (const char* folder : {"allowed/inside", "allowedtoo", "outside"})
      std::filesystem::create_directories(path / folder);
    auto made = AllowedFiles::make({at("allowed")}, local_files());
    REQUIRE(made.ok());
    files = *made;
    auto all = AllowedFiles::make({path.string()}, local_files());
    for (const char* file :
         {"allowed/a", "allowed/b.txt", "allowed/inside/a", "allowedtoo/a", "outside/a"})
      REQUIRE((*all)->put(at(file), file).ok());
    std::filesystem::create_symlink(path / "outside", path / "allowed/out");
    std::filesystem::create_symlink(path / "outside/a", path / "allowed/out_file");
    std::filesystem::create_symlink(path / "allowed/inside", path / "allowed/in");
  }
  ~Folders() { std::filesystem::remove_all(path); }
  std::string at(std::string_view name) const { return (path / name).string(); }
};

} // namespace

TEST_CASE("allowed files: what is inside is read, written, renamed and removed") {
  Folders f;
  CHECK(*f.files->get(f.at("allowed/a"), 100) == "allowed/a");
  CHECK(*f.files->get("file://" + f.at("allowed/a"), 100) == "allowed/a");
  CHECK(*f.files->get(f.at("allowed/./a"), 100) == "allowed/a");
  CHECK(*f.files->get(f.at("allowed/in/a"), 100) == "allowed/inside/a");
  CHECK(*f.files->get(f.at("allowed/inside/../a"), 100) == "allowed/a");
  CHECK(*f.files->get(f.at("outside/../allowed/a"), 100) == "allowed/a");
  CHECK(*f.files->get(f.at("allowed/none/../a"), 100) == "allowed/a");
  CHECK(f.files->put(f.at("allowed/with blanks, x=1"), "new").ok());
  CHECK(*f.files->get(f.at("allowed/with blanks, x=1"), 100) == "new");
  CHECK(f.files->rename(f.at("allowed/with blanks, x=1"), f.at("allowed/inside/c")).ok());
  CHECK(*f.files->get(f.at("allowed/inside/c"), 100) == "new");
  CHECK(f.files->remove(f.at("allowed/inside/c")).ok());
  CHECK_FALSE(*f.files->exists(f.at("allowed/inside/c")));
  CHECK(*f.files->exists(f.at("allowed/inside")));
  CHECK(*f.files->is_folder(f.at("allowed/inside")));
  CHECK_FALSE(*f.files->is_folder(f.at("allowed/inside/c")));
  CHECK(f.files->make_folders(f.at("allowed/x/y/z")).ok());
  CHECK(*f.files->exists(f.at("allowed/x/y/z")));
  CHECK(f.files->remove_folder(f.at("allowed/x")).code() != Code::ok);
  CHECK(f.files->remove_folder(f.at("allowed/x/y/z")).ok());
  CHECK(*f.files->list(f.at("allowed/inside")) == std::vector<std::string>{"a"});
}

TEST_CASE("allowed files: what is outside is refused with the remedy, however it is reached") {
  Folders f;
  for (const char* name : {"outside/a", "allowedtoo/a", "allowed/out/a", "allowed/out_file",
                           "allowed/out/new", "allowed/../outside/a", "allowed/out/../a",
                           "allowed/none/../../outside/a", "", "outside/none"}) {
    CAPTURE(name);
    const std::string path = f.at(name);
    const Status status = f.files->open(path).status();
    CHECK(status.code() == Code::permission_denied);
    CHECK(status.message().find("--files=DIR") != std::string::npos);
    CHECK(status.message().find(f.at("allowed")) != std::string::npos);
    CHECK(f.files->put(path, "x").code() == Code::permission_denied);
    CHECK(f.files->remove(path).code() == Code::permission_denied);
    CHECK(f.files->rename(f.at("allowed/a"), path).code() == Code::permission_denied);
    CHECK(f.files->rename(path, f.at("allowed/d")).code() == Code::permission_denied);
    CHECK(f.files->create(path).status().code() == Code::permission_denied);
    CHECK(f.files->append_to(path, "x").code() == Code::permission_denied);
    CHECK(f.files->make_folders(path).code() == Code::permission_denied);
    CHECK(f.files->remove_folder(path).code() == Code::permission_denied);
    CHECK(f.files->exists(path).status().code() == Code::permission_denied);
    CHECK(f.files->is_folder(path).status().code() == Code::permission_denied);
    CHECK(f.files->list(path).status().code() == Code::permission_denied);
    CHECK(f.files->match(path + "/*", 10).status().code() == Code::permission_denied);
  }
  CHECK(std::filesystem::exists(f.at("outside/a")));
  CHECK_FALSE(std::filesystem::exists(f.at("outside/new")));
}

TEST_CASE("allowed files: other schemes, empty paths, paths that no file has") {
  Folders f;
  CHECK(f.files->open("gs://bucket/a").status().message() ==
        "File system scheme 'gs' not implemented (file: 'gs://bucket/a')");
  CHECK(f.files->open("").status().code() == Code::not_found);
  CHECK(f.files->open(std::string(5000, 'a')).status().code() == Code::invalid_argument);
  CHECK(f.files->open(std::string("a\0b", 3)).status().code() == Code::invalid_argument);
  CHECK(f.files->open(f.at("allowed/none")).status().message() ==
        f.at("allowed/none") + "; No such file or directory");
  const Status no_folder = f.files->put(f.at("allowed/none/a"), "x");
  CHECK(no_folder.code() == Code::not_found);
  CHECK(no_folder.message().find(f.at("allowed/none/a")) != std::string::npos); // not one beside it
  CHECK(no_folder.message().find("unfinished") == std::string::npos);
  CHECK(AllowedFiles::make({f.at("none")}, local_files()).status().code() == Code::not_found);
  CHECK(AllowedFiles::make({f.at("outside/a")}, local_files()).status().code() == Code::not_found);
  auto none = AllowedFiles::make({}, local_files());
  CHECK((*none)->open(f.at("allowed/a")).status().code() == Code::permission_denied);
}

TEST_CASE("allowed files: what is appended comes behind what is there") {
  Folders f;
  const std::string path = f.at("allowed/log");
  CHECK(f.files->append_to(path, "one\n").ok());
  CHECK(f.files->append_to(path, "two\n").ok());
  CHECK(*f.files->get(path, 100) == "one\ntwo\n");
  CHECK(f.files->append_to(f.at("allowed/none/log"), "x").code() == Code::not_found);
  CHECK(f.files->append_to(f.at("allowed/inside"), "x").code() == Code::failed_precondition);
}

TEST_CASE("allowed files: patterns") {
  Folders f;
  using Paths = std::vector<std::string>;
  CHECK(*f.files->match(f.at("allowed/*"), 10) ==
        Paths{f.at("allowed/a"), f.at("allowed/b.txt"), f.at("allowed/in"), f.at("allowed/inside"),
              f.at("allowed/out"), f.at("allowed/out_file")});
  CHECK(*f.files->match(f.at("allowed/in*/a"), 10) ==
        Paths{f.at("allowed/in/a"), f.at("allowed/inside/a")});
  CHECK(*f.files->match(f.at("allowed/[a-b]*"), 10) ==
        Paths{f.at("allowed/a"), f.at("allowed/b.txt")});
  CHECK(*f.files->match(f.at("allowed/a"), 10) == Paths{f.at("allowed/a")});
  CHECK(f.files->match(f.at("allowed/none"), 10)->empty());
  CHECK(f.files->match(f.at("allowed/none/*"), 10)->empty());
  CHECK(f.files->match(f.at("allowed/*"), 3).status().code() == Code::resource_exhausted);
  CHECK(f.files->match(f.at("*/a"), 10).status().code() == Code::permission_denied);
  CHECK(f.files->match(f.at("allowed/o*/a"), 10).status().code() == Code::permission_denied);
}

TEST_CASE("allowed files: a pattern's part matches a name") {
  for (auto [name, pattern, matches] : {std::tuple{"abc", "abc", true},
                                        {"abc", "a*", true},
                                        {"abc", "*c", true},
                                        {"abc", "*b*", true},
                                        {"abc", "a?c", true},
                                        {"abc", "a?", false},
                                        {"abc", "", false},
                                        {"", "", true},
                                        {"", "*", true},
                                        {"abc", "[a-c]b[^d]", true},
                                        {"abc", "[!a]*", false},
                                        {"a]c", "a[]]c", true},
                                        {"a*c", "a\\*c", true},
                                        {"abc", "a\\*c", false},
                                        {"a-c", "a[-x]c", true},
                                        {"abc", "a[b", false},
                                        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "*a*a*a*a*a*a*a*b", false},
                                        {"ab", "a**b", true}}) {
    CAPTURE(name);
    CAPTURE(pattern);
    CHECK(matches_pattern(name, pattern) == matches);
  }
}

TEST_CASE(
    "allowed files: a relative path is one below the working folder, whether it is there or not") {
  Folders f;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(f.path / "allowed");
  const Status written = f.files->put("new", "x");
  const auto read = f.files->get("a", 100);
  const Status linked = f.files->put("out/new", "x");
  const auto there = f.files->exists("none");
  std::filesystem::current_path(f.path / "outside");
  const Status outside = f.files->put("new", "x");
  std::filesystem::current_path(before);
  CHECK_MESSAGE(written.ok(), written.to_string());
  CHECK(std::filesystem::exists(f.path / "allowed/new"));
  CHECK(*read == "allowed/a");
  CHECK(*there == false);
  CHECK(linked.code() == Code::permission_denied);
  CHECK(outside.code() == Code::permission_denied);
}
