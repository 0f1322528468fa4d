#include "actors/collectives/exchange.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

Tensor view(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  const auto start = static_cast<const std::byte*>(tensor.raw()) -
                     static_cast<const std::byte*>(tensor.buffer()->data());
  return Tensor(tensor.dtype(), Shape{count}, tensor.buffer(),
                static_cast<std::size_t>(start) +
                    static_cast<std::size_t>(begin) * dtype_size(tensor.dtype()));
}

void copy_elements(const Tensor& from, Tensor& to, std::int64_t at) {
  const std::size_t size = dtype_size(from.dtype());
  std::memcpy(static_cast<std::byte*>(to.mutable_raw()) + static_cast<std::size_t>(at) * size,
              from.raw(), static_cast<std::size_t>(from.num_elements()) * size);
}

} // namespace

CollectiveExchange::CollectiveExchange(Setup setup)
    : setup_(std::move(setup)), size_(setup_.spec.group_size) {
  piece_elements_ = std::max<std::int64_t>(
      1, setup_.piece_bytes / static_cast<std::int64_t>(dtype_size(setup_.spec.dtype)));
}

// The elements that rank `section` reduces, sends or receives.
CollectiveExchange::Range CollectiveExchange::share(int section) const {
  const std::int64_t total = setup_.spec.shape.num_elements();
  switch (setup_.spec.kind) {
  case CollectiveKind::gather:
  case CollectiveKind::broadcast:
    return {0, total};
  case CollectiveKind::all_to_all: // an equal share of each input
    return {0, total / size_};
  default: {
    const std::int64_t each = total / size_, rest = total % size_;
    return {section * each + std::min<std::int64_t>(section, rest),
            each + (section < rest ? 1 : 0)};
  }
  }
}

int CollectiveExchange::num_pieces(int section) const {
  return static_cast<int>((share(section).count + piece_elements_ - 1) / piece_elements_);
}

CollectiveExchange::Range CollectiveExchange::piece(int section, int index) const {
  const Range all = share(section);
  const std::int64_t begin = index * piece_elements_;
  return {all.begin + begin, std::min(piece_elements_, all.count - begin)};
}

std::int64_t CollectiveExchange::out_offset(int section) const {
  switch (setup_.spec.kind) {
  case CollectiveKind::gather:
  case CollectiveKind::all_to_all:
    return section * share(section).count;
  case CollectiveKind::reduce_scatter:
    return -share(section).begin;
  default:
    return 0;
  }
}

Tensor CollectiveExchange::in_part(const Range& range) const {
  return view(setup_.input, range.begin, range.count);
}

Tensor CollectiveExchange::out_part(int section, const Range& range) const {
  return view(setup_.output, out_offset(section) + range.begin, range.count);
}

std::uint64_t CollectiveExchange::add_job(const PieceName& name, bool is_merge) {
  jobs_.emplace(++last_job_, Job{name, is_merge});
  return last_job_;
}

void CollectiveExchange::send_to_all(const PieceName& name, const Tensor& part,
                                     Effects& out) const {
  for (int step = 1; step < size_; ++step)
    out.push_back(Send{(setup_.rank + step) % size_, name, part});
}

CollectiveExchange::Effects CollectiveExchange::start() {
  Effects out;
  if (merges())
    start_merging(out);
  else if (setup_.spec.kind != CollectiveKind::barrier)
    start_results(out);
  return out;
}

void CollectiveExchange::start_merging(Effects& out) {
  const int rank = setup_.rank;
  const bool is_ring = setup_.route == CollectiveRoute::ring && size_ > 1;
  const bool gives_all = setup_.spec.kind == CollectiveKind::reduce;
  int most = 0;
  for (int section = 0; section < size_; ++section)
    most = std::max(most, num_pieces(section));
  for (int index = 0; index < most; ++index) { // in turn, so that all receivers have work
    for (int step = 1; step <= size_; ++step) {
      const int section = (rank + step) % size_;
      if (index >= num_pieces(section))
        continue;
      const PieceName name{0, section, index};
      const Tensor own = in_part(piece(section, index));
      if (is_ring) {
        // A share begins at its owner's successor: ours is our predecessor's.
        if (section == previous())
          out.push_back(Send{next(), name, own});
        else
          expect(previous(), name);
        if (gives_all && section != rank)
          expect(previous(), {1, section, index});
        continue;
      }
      if (section != rank) {
        out.push_back(Send{section, name, own});
        if (gives_all)
          expect(section, {1, section, index});
        continue;
      }
      auto& parts = parts_[name];
      parts.resize(static_cast<std::size_t>(size_));
      parts[static_cast<std::size_t>(rank)] = own;
      for (int other = 0; other < size_; ++other)
        if (other != rank)
          expect(other, name);
      if (size_ == 1) {
        out.push_back(Merge{add_job(name, true), out_part(section, piece(section, index)),
                            std::move(parts), setup_.spec.divides});
        parts_.erase(name);
      }
    }
  }
}

// Gather, broadcast and all-to-all reduce nothing: their inputs are sent unchanged.
void CollectiveExchange::start_results(Effects& out) {
  const int rank = setup_.rank;
  const CollectiveKind kind = setup_.spec.kind;
  const bool gives = kind != CollectiveKind::broadcast || rank == setup_.source;
  for (int section = 0; section < size_; ++section) {
    if (section == rank || (kind == CollectiveKind::broadcast && section != setup_.source))
      continue;
    for (int index = 0; index < num_pieces(section); ++index)
      expect(section, {1, section, index});
  }
  if (!gives)
    return;
  for (int index = 0; index < num_pieces(rank); ++index) {
    const PieceName name{1, rank, index};
    Range range = piece(rank, index);
    if (kind == CollectiveKind::all_to_all) {
      for (int step = 1; step < size_; ++step) {
        const int to = (rank + step) % size_;
        out.push_back(Send{to, name, in_part({to * share(to).count + range.begin, range.count})});
      }
      out.push_back(Copy{add_job(name, false), out_part(rank, range),
                         in_part({rank * share(rank).count + range.begin, range.count})});
      continue;
    }
    send_to_all(name, in_part(range), out);
    if (!setup_.output.shares_buffer_with(setup_.input))
      out.push_back(Copy{add_job(name, false), out_part(rank, range), in_part(range)});
  }
}

Result<CollectiveExchange::Effects> CollectiveExchange::arrived(int from, const PieceName& name,
                                                                Tensor part) {
  auto expected = expected_.find(name);
  if (expected == expected_.end() || expected->second.erase(from) == 0)
    return invalid_argument(str_cat("rank ", from, " has sent piece ", name.index, " of share ",
                                    name.section, ", which nobody waits for"));
  if (expected->second.empty())
    expected_.erase(expected);
  --missing_;
  const Range range = piece(name.section, name.index);
  if (part.dtype() != setup_.spec.dtype || part.num_elements() != range.count)
    return invalid_argument(str_cat("rank ", from, " has sent ", part.num_elements(),
                                    " elements of ", to_string(part.dtype()), ", expected ",
                                    range.count, " of ", to_string(setup_.spec.dtype)));
  Effects out;
  const bool is_ring = merges() && setup_.route == CollectiveRoute::ring;
  if (name.phase == 1) {
    if (is_ring && next() != name.section)
      out.push_back(Send{next(), name, part});
    out.push_back(Copy{add_job(name, false), out_part(name.section, range), std::move(part)});
    return out;
  }
  if (is_ring) {
    // On the way the sum lies where the result will lie later: our successor has it by then. Of a
    // reduce-scatter there is room for our own share alone.
    const bool is_last = name.section == setup_.rank;
    Tensor at = is_last || setup_.spec.kind == CollectiveKind::reduce
                    ? out_part(name.section, range)
                    : part;
    std::vector<Tensor> both{std::move(part), in_part(range)};
    if (!is_last && setup_.spec.kind != CollectiveKind::reduce)
      at = Tensor::make(setup_.spec.dtype, Shape{range.count});
    if (!is_last)
      parts_[name] = {at};
    out.push_back(Merge{add_job(name, true), at, std::move(both), is_last && setup_.spec.divides});
    return out;
  }
  auto& parts = parts_[name];
  parts[static_cast<std::size_t>(from)] = std::move(part);
  if (std::ranges::all_of(parts, [](const Tensor& x) { return x.has_value(); })) {
    out.push_back(Merge{add_job(name, true), out_part(name.section, range), std::move(parts),
                        setup_.spec.divides});
    parts_.erase(name);
  }
  return out;
}

void CollectiveExchange::merged(const PieceName& name, Effects& out) {
  const bool is_ring = setup_.route == CollectiveRoute::ring && size_ > 1;
  if (is_ring && name.section != setup_.rank) {
    auto sum = parts_.extract(name);
    out.push_back(Send{next(), name, std::move(sum.mapped().front())});
    return;
  }
  if (setup_.spec.kind != CollectiveKind::reduce)
    return;
  const Tensor result = out_part(name.section, piece(name.section, name.index));
  const PieceName as_result{1, name.section, name.index};
  if (!is_ring)
    send_to_all(as_result, result, out);
  else
    out.push_back(Send{next(), as_result, result});
}

CollectiveExchange::Effects CollectiveExchange::job_done(std::uint64_t job) {
  Effects out;
  auto done = jobs_.extract(job);
  if (!done.empty() && done.mapped().is_merge)
    merged(done.mapped().name, out);
  return out;
}

std::vector<int> CollectiveExchange::waits_for() const {
  std::set<int> out;
  for (const auto& [name, ranks] : expected_)
    out.insert(ranks.begin(), ranks.end());
  return {out.begin(), out.end()};
}

void merge_parts(const CollectiveMath& math, const std::vector<Tensor>& parts, Tensor& out,
                 bool divide, int size) {
  const std::int64_t count = out.num_elements();
  if (parts.size() == 1 && parts[0].raw() != out.raw())
    copy_elements(parts[0], out, 0);
  for (std::size_t i = 1; i < parts.size(); ++i)
    math.merge(i == 1 ? parts[0].raw() : out.raw(), parts[i].raw(), out.mutable_raw(), count);
  if (divide && math.divide)
    math.divide(out.mutable_raw(), count, size);
}

Status combine_small(const CollectiveSpec& spec, int rank, int source,
                     const std::vector<Tensor>& values, const CollectiveMath* math, Tensor output) {
  const std::int64_t count = spec.shape.num_elements();
  const int size = spec.group_size;
  if (spec.kind == CollectiveKind::barrier)
    return {};
  for (int i = 0; i < size; ++i) {
    const Tensor& value = values[static_cast<std::size_t>(i)];
    const bool gives = spec.kind != CollectiveKind::broadcast || i == source;
    if (gives &&
        (!value.has_value() || value.dtype() != spec.dtype || value.num_elements() != count))
      return internal(str_cat("the value of rank ", i,
                              " in a collective is not the one that it "
                              "announced"));
  }
  auto flat = [&](int i, std::int64_t begin, std::int64_t n) {
    return view(values[static_cast<std::size_t>(i)], begin, n);
  };
  switch (spec.kind) {
  case CollectiveKind::reduce:
  case CollectiveKind::reduce_scatter: {
    const bool scatters = spec.kind == CollectiveKind::reduce_scatter;
    const std::int64_t n = scatters ? count / size : count;
    std::vector<Tensor> parts;
    if (n > 0)
      for (int i = 0; i < size; ++i)
        parts.push_back(flat(i, scatters ? rank * n : 0, n));
    if (n > 0)
      merge_parts(*math, parts, output, spec.divides, size);
    return {};
  }
  case CollectiveKind::gather:
    for (int i = 0; i < size && count > 0; ++i)
      copy_elements(flat(i, 0, count), output, i * count);
    return {};
  case CollectiveKind::all_to_all:
    for (int i = 0; i < size && count > 0; ++i)
      copy_elements(flat(i, rank * (count / size), count / size), output, i * (count / size));
    return {};
  case CollectiveKind::broadcast:
    if (count > 0 && rank != source)
      copy_elements(flat(source, 0, count), output, 0);
    return {};
  case CollectiveKind::barrier:
    break;
  }
  return {};
}

} // namespace troupe
