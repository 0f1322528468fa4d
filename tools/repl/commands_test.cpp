#include "tools/repl/commands.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <unistd.h>

#include <doctest/doctest.h>

#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "tests/support/endless_graph.hpp"
#include "tools/repl/repl.hpp"

namespace troupe {
namespace {

constexpr const char* half_plus_two = R"(
x = Placeholder[dtype=DT_FLOAT, shape=[?]]()
half = Const[dtype=DT_FLOAT, value=f32[] 0.5]()
two = Const[dtype=DT_FLOAT, value=f32[] 2]()
product = Mul(x, half)
y = AddV2(product, two)
)";

/// A prompt whose output is kept.
struct Desk {
  Desk() {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "half.graph") << half_plus_two;
  }
  ~Desk() { std::filesystem::remove_all(folder); }
  int run(const std::string& script) {
    out.clear();
    error.clear();
    std::istringstream text(script);
    return run_script([&](std::string& line) { return !!std::getline(text, line); }, "", workspace,
                      printer);
  }
  std::string path(const char* name) const { return (folder / name).string(); }
  int load() { return run("load " + path("half.graph")); }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / str_cat("troupe-commands-", getpid());
  std::string out, error;
  Printer printer{[this](std::string_view text) { out.append(text); },
                  [this](std::string_view text) { error.append(text); }, false};
  Workspace workspace;
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("commands: each has a sentence, and an example that calls it rightly") {
  std::set<std::string> names;
  for (const ReplCommand& command : repl_commands()) {
    CAPTURE(command.name);
    CHECK(names.insert(command.name).second);
    CHECK(std::string_view(command.summary).ends_with('.'));
    CHECK_FALSE(has(command.summary, "\n"));
    auto statements = parse_statements(command.example);
    REQUIRE(statements.ok());
    REQUIRE(statements->size() == 1);
    CHECK((*statements)[0].name() == command.name);
    CHECK((*statements)[0].arguments() >= command.min_arguments);
    CHECK((*statements)[0].arguments() <= command.max_arguments);
    CHECK((*command.arguments == 0) == (command.max_arguments == 0));
  }
}

TEST_CASE("commands: the number of arguments is checked with the right call") {
  Desk desk;
  CHECK(desk.run("load") == 2);
  CHECK(desk.error == "error: `load` wants more arguments than 0; call it as `load FILE`, for "
                      "example `load model.graph`\n");
  CHECK(desk.run("devices now") == 2);
  CHECK(desk.error == "error: `devices` wants fewer arguments than 1; call it as `devices`, for "
                      "example `devices`\n");
}

TEST_CASE("commands: an unknown one is told with the nearest") {
  Desk desk;
  CHECK(desk.run("patritions y") == 2);
  CHECK(desk.error == "error: there is no command 'patritions'; did you mean 'partitions'?\n");
  CHECK(desk.run("elephant") == 2);
  CHECK(desk.error == "error: there is no command 'elephant'; `help` lists them\n");
}

TEST_CASE("commands: before a connection they say how to make one") {
  Desk desk;
  for (const char* line : {"devices", "run y", "place", "actors", "kill guardian/worker", "status",
                           "sessions", "steps", "why", "step why", "partitions y"}) {
    CAPTURE(line);
    CHECK(desk.run(line) == 1);
    CHECK(has(desk.error, "type `connect`"));
  }
}

TEST_CASE("commands: a target of another form was called wrongly") {
  Desk desk;
  CHECK(desk.run("connect http://nowhere") == 2);
  CHECK(has(desk.error, "use 'local' or 'caf://host:port'"));
}

TEST_CASE("commands: a mistyped target costs neither session nor graph") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  REQUIRE(desk.load() == 0);
  CHECK(desk.run("connect cfa://127.0.0.1:7271") == 2);
  CHECK(desk.run("feed x f32[1] 2; run y") == 0);
  CHECK(has(desk.out, "y = f32[1] 3\n"));
}

TEST_CASE("commands: a graph is loaded, fed, run and looked at") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  CHECK(has(desk.out, "connected to local (/job:localhost/replica:0/task:0"));
  REQUIRE(desk.load() == 0);
  CHECK(has(desk.out, "5 nodes; the graph has 5"));
  CHECK(desk.run("graph Mul") == 0);
  CHECK(has(desk.out, "product = Mul(x, half)\n"));
  CHECK_FALSE(has(desk.out, "AddV2"));
  CHECK(desk.run("feed x f32[2] \\\n 1 2\nrun y product:0") == 0);
  CHECK(has(desk.out, "y = f32[2] 2.5 3\n"));
  CHECK(has(desk.out, "product:0 = f32[2] 0.5 1\n"));
  CHECK(desk.run("place y") == 0);
  CHECK(has(desk.out, "y  /job:localhost/replica:0/task:0/device:CPU:0\n"));
  CHECK(desk.run("partitions y") == 0);
  CHECK(has(desk.out, "y = _FusedElementwise[_members=[\"Mul product\", \"AddV2 y\"], "
                      "program=[\"Mul 1 2\", \"AddV2 3 0\"]"));
  CHECK(desk.run("steps") == 0);
  CHECK(has(desk.out, "done"));
  CHECK(desk.run("sessions") == 0);
  CHECK(has(desk.out, "1 finished"));
}

TEST_CASE("commands: a step is run in pieces") {
  Desk desk;
  REQUIRE(desk.run("connect local") == 0);
  REQUIRE(desk.load() == 0);
  CHECK(desk.run("part y") != 0);
  CHECK(has(desk.error, "no step is set up; write `setup x -> y` first"));
  CHECK(desk.run("setup x y") != 0);
  CHECK_MESSAGE(has(desk.error, "->"), desk.error);
  REQUIRE(desk.run("setup x half -> product y") == 0);
  CHECK(has(desk.out, "is set up"));
  CHECK(desk.run("part product") != 0);
  CHECK(has(desk.error, "can't be computed from the feeds that have been fed so far"));
  REQUIRE(desk.run("feed x f32[2] 1 2\npart") == 0);
  REQUIRE(desk.run("feed half f32[] 10\npart product") == 0);
  CHECK(has(desk.out, "product = f32[2] 10 20"));
  REQUIRE(desk.run("part y") == 0);
  CHECK(has(desk.out, "y = f32[2] 12 22"));
  CHECK(desk.run("part y") != 0); // it is over
}

TEST_CASE("commands: feeds are listed and forgotten") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  REQUIRE(desk.load() == 0);
  CHECK(desk.run("feed x f32[2] 1 2; feed half f32[] 3; feed") == 0);
  CHECK(has(desk.out, "x     f32[2] 1 2\n"));
  CHECK(desk.run("run y") == 0);
  CHECK(has(desk.out, "y = f32[2] 5 8\n"));
  CHECK(desk.run("unfeed half; run y") == 0);
  CHECK(has(desk.out, "y = f32[2] 2.5 3\n"));
  CHECK(desk.run("unfeed half") == 1);
  CHECK(desk.run("unfeed; run y") == 1);
  CHECK(has(desk.error, "You must feed a value for placeholder tensor 'x'"));
}

TEST_CASE("commands: a name that the graph lacks is told with the nearest") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  CHECK(desk.run("run y") == 1);
  CHECK(has(desk.error, "no graph is loaded; `load FILE` first"));
  REQUIRE(desk.load() == 0);
  CHECK(desk.run("run prodcut") == 1);
  CHECK(has(desk.error, "no node 'prodcut'; did you mean 'product'?"));
  CHECK(desk.run("run y -> hlaf") == 1);
  CHECK(has(desk.error, "did you mean 'half'?"));
  CHECK(desk.run("feed z f32[] 1") == 1);
  CHECK(desk.run("feed x") == 2);
  CHECK(desk.run("feed x f32[2] 1 oops") == 1);
  CHECK(has(desk.error, "oops"));
  CHECK(desk.run("ops MatMull") == 1);
  CHECK(has(desk.error, "did you mean 'MatMul'"));
}

TEST_CASE("commands: a traced run gives a timeline, on the screen and in a file") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  REQUIRE(desk.load() == 0);
  CHECK(desk.run("timeline") == 1);
  CHECK(desk.run("feed x f32[1] 1; run y trace; timeline") == 0);
  CHECK(has(desk.out, "_FusedElementwise"));
  CHECK(desk.run("timeline " + desk.path("t.json")) == 0);
  std::stringstream written;
  written << std::ifstream(desk.path("t.json")).rdbuf();
  CHECK(has(written.str(), "\"_FusedElementwise\""));
  CHECK(desk.run("timeline " + desk.path("none/t.json")) == 1);
  CHECK(has(desk.error, "cannot be written"));
}

TEST_CASE("commands: a step in the background ends under its number") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  REQUIRE(desk.load() == 0);
  CHECK(desk.run("feed x f32[1] 4; run y &; wait") == 0);
  CHECK(has(desk.out, "[1] y runs in the background"));
  CHECK(has(desk.out, "y = f32[1] 4\n"));
  CHECK(desk.workspace.background_steps() == 0);
  CHECK(desk.run("unfeed; run y &") == 0);
  CHECK(desk.run("wait") == 1);
}

TEST_CASE("commands: an interrupt leaves the step in the background") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  std::ofstream(desk.folder / "endless.graph") << testing::endless_graph;
  REQUIRE(desk.run("load " + desk.path("endless.graph")) == 0);
  desk.workspace.interrupted() = true;
  CHECK(desk.run("run end") == 0);
  CHECK(has(desk.out, "[1] end runs in the background"));
  CHECK(desk.workspace.background_steps() == 1);
  CHECK(desk.run("wait") == 0); // interrupted as well
  CHECK(desk.workspace.background_steps() == 1);
  CHECK(desk.run("steps") == 0);
  CHECK(has(desk.out, "running"));
  for (const char* line : {"why", "step why"}) {
    CHECK(desk.run(line) == 0);
    CHECK(has(desk.out, "step "));
    CHECK(has(desk.out, " has been running for "));
    CHECK(has(desk.out, " of its loop\n"));
  }
  // Closing the session ends it.
  CHECK(desk.run("connect") == 0);
  CHECK(desk.workspace.background_steps() == 0);
}

TEST_CASE("commands: a step in the background is cancelled by its number") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  std::ofstream(desk.folder / "endless.graph") << testing::endless_graph;
  REQUIRE(desk.run("load " + desk.path("endless.graph") + "; run end &") == 0);
  CHECK(desk.run("cancel 2") == 1);
  CHECK(has(desk.error, "there is no step '2' in the background; there are [1] end"));
  CHECK(desk.run("cancel 1") == 0);
  CHECK(has(desk.out, "[1] end is asked to end"));
  CHECK(desk.run("wait") == 1);
  CHECK(has(desk.error, "CANCELLED"));
  CHECK(desk.run("cancel 1") == 1);
  CHECK(has(desk.error, "there is none at all"));
}

TEST_CASE("commands: an op without outputs is run by its name") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  std::ofstream(desk.folder / "no_op.graph") << "init = NoOp()\n";
  REQUIRE(desk.run("load " + desk.path("no_op.graph")) == 0);
  CHECK(desk.run("run init") == 0);
  CHECK(has(desk.out, "ran in "));
}

TEST_CASE("commands: a graph that is loaded already is told with what to do") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  REQUIRE(desk.load() == 0);
  CHECK(desk.load() == 1);
  CHECK(has(desk.error, "was created by a previous call"));
  CHECK(has(desk.error, "`connect local` opens a new session"));
  CHECK(desk.run("connect local") == 0);
  CHECK(desk.load() == 0);
}

TEST_CASE("commands: why is told of idle sessions, of steps that have ended and of none") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  CHECK(desk.run("why") == 0);
  CHECK(desk.out == "No step is running.\n");
  CHECK(desk.run("why 4711") == 0);
  CHECK(has(desk.out, "there is no step 4711 in this session"));
  CHECK(desk.run("why y") == 2);
  CHECK(has(desk.error, "'y' is no step id; `steps` lists them"));
  CHECK(desk.run("step over") == 2);
  CHECK(has(desk.error, "`step` knows `step why` only"));
}

TEST_CASE("commands: a step ends with its timeout") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  std::ofstream(desk.folder / "endless.graph") << testing::endless_graph;
  REQUIRE(desk.run("load " + desk.path("endless.graph")) == 0);
  CHECK(desk.run("run end timeout=50ms") == 1);
  CHECK(has(desk.error, "DEADLINE_EXCEEDED"));
}

TEST_CASE("commands: the actors are shown and killed by their paths") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  CHECK(desk.run("actors") == 0);
  CHECK(has(desk.out, "guardian"));
  CHECK(has(desk.out, "    session-"));
  CHECK(desk.run("kill guardian/nobody") == 1);
  CHECK(has(desk.error, "there is no actor at 'guardian/nobody'"));
  CHECK(desk.run("kill guardian") == 1);
  CHECK(has(desk.error, "'guardian' is the node itself"));
  set_log_level(LogLevel::off);
  CHECK(desk.run("kill guardian/worker") == 0);
  set_log_level(LogLevel::warning);
  CHECK(desk.run("connect; status") == 0);
  CHECK(has(desk.out, "/job:localhost/replica:0/task:0 at local"));
}

TEST_CASE("commands: a new connection forgets graph, feeds and trace") {
  Desk desk;
  REQUIRE(desk.run("connect") == 0);
  REQUIRE(desk.load() == 0);
  REQUIRE(desk.run("feed x f32[1] 1; run y trace; connect; graph; feed") == 0);
  CHECK(has(desk.out, "The graph is empty"));
  CHECK(has(desk.out, "No feeds"));
  CHECK(desk.run("timeline") == 1);
  CHECK(desk.load() == 0);
}

TEST_CASE("script: the first error ends it, quit as well") {
  Desk desk;
  CHECK(desk.run("help run\nrun\nhelp load") == 2);
  CHECK(has(desk.out, "example: run loss"));
  CHECK_FALSE(has(desk.out, "example: load"));
  CHECK(desk.run("quit; elephant") == 0);
  CHECK(desk.run("exit; elephant") == 0);
  CHECK(desk.run("feed x \"open") == 2);
  CHECK(has(desk.error, "is not closed"));
}

TEST_CASE("printer: colour only where it is wanted") {
  std::string out;
  auto keep = [&](std::string_view text) { out.append(text); };
  Printer plain(keep, keep, false), colour(keep, keep, true);
  CHECK(plain.styled(Style::bad, "no") == "no");
  CHECK(colour.styled(Style::bad, "no") == "\033[31mno\033[0m");
  CHECK(colour.styled(Style::plain, "no") == "no");
  plain.error("It broke.");
  CHECK(out == "error: It broke.\n");
}

} // namespace troupe
