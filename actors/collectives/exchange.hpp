// CollectiveExchange: which pieces of a value a member sends, merges and copies. Plain: events in,
// effects out; pieces may come in any order.
//
// An input of n shares (one for each rank) is cut into pieces. All of it overlaps: a piece is
// merged while others are on their way.
//
//   direct   every member sends share j to rank j, which merges all of them in the order of ranks and
//            sends the result to everybody. Two hops.
//   ring     share j travels from rank j + 1 around to rank j, merged at every hop, and its result
//            from rank j around. Each member talks to its neighbours alone: for members on
//            several hosts, where everybody's link would else carry everybody's shares at once.
//
// Both move 2 (n - 1) / n of the value to and from each member. Every member gets the same bits.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/protocol/wire/collectives.hpp"
#include "kernels/framework/collectives.hpp"

namespace troupe {

enum class CollectiveRoute : std::uint8_t { direct, ring };

class CollectiveExchange {
public:
  struct Setup {
    CollectiveSpec spec;
    CollectiveRoute route = CollectiveRoute::direct;
    int rank = 0;
    int source = -1; ///< of a broadcast
    Tensor input;    ///< none of a member that only receives
    Tensor output;
    std::int64_t piece_bytes = 1 << 20;
  };
  explicit CollectiveExchange(Setup setup);

  struct Send {
    int to = 0;
    PieceName name;
    Tensor part; ///< a view
  };
  /// out = parts merged in their order, then divided.
  struct Merge {
    std::uint64_t job = 0;
    Tensor out;
    std::vector<Tensor> parts;
    bool divide = false;
  };
  struct Copy {
    std::uint64_t job = 0;
    Tensor out, from;
  };
  using Effect = std::variant<Send, Merge, Copy>;
  using Effects = std::vector<Effect>;

  /// Once, before all else.
  Effects start();
  /// INVALID_ARGUMENT for a piece that nobody would send, or of another size.
  Result<Effects> arrived(int from, const PieceName& name, Tensor part);
  /// A merge or copy is done.
  Effects job_done(std::uint64_t job);
  bool is_done() const { return missing_ == 0 && jobs_.empty(); }
  /// Ranks whose pieces are missing, for people.
  std::vector<int> waits_for() const;

private:
  struct Range {
    std::int64_t begin = 0, count = 0; // elements
  };
  Range share(int section) const; // of the input
  int num_pieces(int section) const;
  Range piece(int section, int index) const;  // of the input
  std::int64_t out_offset(int section) const; // of a share, in the output
  Tensor in_part(const Range& range) const;
  Tensor out_part(int section, const Range& range) const;
  int next() const { return (setup_.rank + 1) % size_; }
  int previous() const { return (setup_.rank + size_ - 1) % size_; }

  void expect(int from, const PieceName& name) {
    expected_.emplace(name, std::set<int>{}).first->second.insert(from);
    ++missing_;
  }
  void start_merging(Effects& out);
  void start_results(Effects& out);
  std::uint64_t add_job(const PieceName& name, bool is_merge);
  void merged(const PieceName& name, Effects& out);
  void send_to_all(const PieceName& name, const Tensor& part, Effects& out) const;
  bool merges() const {
    return setup_.spec.kind == CollectiveKind::reduce ||
           setup_.spec.kind == CollectiveKind::reduce_scatter;
  }

  Setup setup_;
  const int size_;
  std::int64_t piece_elements_ = 1;
  std::map<PieceName, std::set<int>> expected_;    // who is yet to send it
  std::int64_t missing_ = 0;                       // of all
  std::map<PieceName, std::vector<Tensor>> parts_; // to be merged, by rank
  struct Job {
    PieceName name;
    bool is_merge = false;
  };
  std::map<std::uint64_t, Job> jobs_;
  std::uint64_t last_job_ = 0;
};

/// What a member computes of everybody's small values, by rank; one without value only receives.
/// INTERNAL when they do not fit together.
Status combine_small(const CollectiveSpec& spec, int rank, int source,
                     const std::vector<Tensor>& values, const CollectiveMath* math, Tensor output);

/// out[i] = parts merged in order, then divided by `size` if `divide`. Any thread.
void merge_parts(const CollectiveMath& math, const std::vector<Tensor>& parts, Tensor& out,
                 bool divide, int size);

} // namespace troupe
