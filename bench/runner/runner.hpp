// What both sides of a comparison share: a program that opens clients, runs their steps and times
// them, told what to do by lines on its standard input. Standard library only, because the other
// side is built against TensorFlow's headers alone. Each side defines `open_client`.
//
//   open NAME key=value …      fields are separated by tabs; keys: graph, target, config,
//                              run_options (files but the target), init, fetch, op (may be given
//                              again), feed (NAME:DTYPE:DIM,DIM; a name that was fed already begins
//                              the next run of a step)
//   again NAME OTHER           one more client of OTHER's session, with the same step and feeds of
//                              its own
//   values NAME STEPS          runs so many steps, not timed; {"runs": for each run, for each fetch,
//                              the elements}
//   measure SECONDS STEPS NAME… [beside NAME…]     each client on a thread of its own
//   close NAME
//
// Each line is answered with one line of JSON, {"error": "sentence"} for what failed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct FeedSpec {
  std::string name;
  std::string dtype; ///< float, int32, int64
  std::vector<std::int64_t> dims;
  std::int64_t elements() const;
};

/// One client: a graph, where it runs, and the step that is timed.
struct ClientSpec {
  std::string graph;       ///< bytes of a GraphDef
  std::string target;      ///< as the side spells it; empty: in this process
  std::string config;      ///< bytes of a ConfigProto
  std::string run_options; ///< bytes of RunOptions
  std::vector<std::string> inits, fetches, targets;
  std::vector<std::vector<FeedSpec>> runs; ///< the feeds of each run of a step; one run at least
};

/// What one run fetched: the elements of each fetch.
using Fetched = std::vector<std::vector<double>>;

class Client {
public:
  virtual ~Client() = default;
  /// One step: a run with the feeds of each of `ClientSpec::runs`, in turn. A sentence if it
  /// failed, else empty. `values`, if not null, gets what each run fetched. One thread at a time.
  virtual std::string step(std::vector<Fetched>* values = nullptr) = 0;
  /// One more of the same session, for another thread.
  virtual std::unique_ptr<Client> again() const = 0;
};

/// Opens a session, gives it the graph, runs `inits`, makes the feeds. Null with `error` if one of
/// these failed.
std::unique_ptr<Client> open_client(const ClientSpec& spec, std::string& error);

/// The same values on both sides: a pattern in [-0.5, 0.5) for float, 0 to 9 for integers.
void fill_feed(const FeedSpec& feed, void* elements);

/// The `count` elements of a fetched tensor as numbers; none of a dtype that is not a feed's.
std::vector<double> elements_of(const std::string& dtype, const void* data, std::size_t count);

/// Reads commands until the end of standard input; the exit code.
int serve();

} // namespace bench
