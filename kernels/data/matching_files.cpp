// MatchingFilesDataset: the paths of files that match patterns.
#include <algorithm>

#include "kernels/data/internal/register.hpp"

namespace troupe::data_matching_files {

using namespace data;
using data::unknown;

namespace {

constexpr std::size_t most_matches = 1'000'000; // of one pattern

class MatchingFilesDataset final : public Dataset {
public:
  MatchingFilesDataset(const KernelContext& c, std::vector<std::string> patterns)
      : Dataset(c, {DType::string}, {PartialShape(Shape{})}), patterns_(std::move(patterns)) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(auto allowed, pipeline->files());
    return IteratorRef(std::make_unique<Matches>(self<MatchingFilesDataset>(), std::move(allowed)));
  }

private:
  // Pattern by pattern, of each in the order of the paths.
  class Matches final : public Iterator {
  public:
    Matches(std::shared_ptr<const MatchingFilesDataset> dataset,
            std::shared_ptr<AllowedFiles> files)
        : dataset_(std::move(dataset)), files_(std::move(files)) {}

    Async<Next> next(ElementPull& pull) override {
      while (at_ == paths_.size()) {
        TROUPE_CO_TRY(co_await pull.breathe());
        if (pattern_ == dataset_->patterns_.size())
          co_return has_match_ ? end_of_sequence()
                               : Next(not_found("Don't find any matched files"));
        TROUPE_CO_TRY(look(dataset_->patterns_[pattern_++]));
      }
      has_match_ = true;
      co_return one_more({Tensor::scalar(paths_[at_++])});
    }

    Async<Status> save(ElementPull&, StateWriter to) override {
      to.put("pattern", static_cast<std::int64_t>(pattern_));
      to.put("has_match", has_match_);
      to.put("paths", Tensor::vector<std::string>(std::span(paths_).subspan(at_)));
      return Status();
    }
    Async<Status> restore(ElementPull&, StateReader from) override {
      TROUPE_CO_ASSIGN(const std::int64_t pattern, from.integer("pattern"));
      TROUPE_CO_ASSIGN(has_match_, from.integer("has_match"));
      TROUPE_CO_ASSIGN(const Tensor paths, from.tensor("paths"));
      if (pattern < 0 || static_cast<std::size_t>(pattern) > dataset_->patterns_.size() ||
          paths.dtype() != DType::string)
        co_return data_loss("the state of the iterator has no pattern to go on with");
      pattern_ = static_cast<std::size_t>(pattern);
      const auto all = paths.data<std::string>();
      paths_.assign(all.begin(), all.end());
      at_ = 0;
      co_return Status();
    }

  private:
    Status look(const std::string& pattern) {
      TROUPE_ASSIGN(paths_, files_->match(pattern, most_matches));
      at_ = 0;
      std::vector<std::string> files;
      for (std::string& path : paths_) {
        TROUPE_ASSIGN(const bool is_folder, files_->is_folder(path));
        if (!is_folder)
          files.push_back(std::move(path));
      }
      paths_ = std::move(files);
      return {};
    }

    std::shared_ptr<const MatchingFilesDataset> dataset_;
    std::shared_ptr<AllowedFiles> files_;
    std::size_t pattern_ = 0; // the next one
    std::vector<std::string> paths_;
    std::size_t at_ = 0; // of the paths
    bool has_match_ = false;
  };

  const std::vector<std::string> patterns_;
};

Result<DatasetRef> make(KernelContext& c) {
  if (c.input(0).shape().rank() > 1)
    return invalid_argument("`patterns` must be a scalar or a vector.");
  const auto patterns = c.input(0).data<std::string>();
  return new_dataset<MatchingFilesDataset>(
      c, std::vector<std::string>(patterns.begin(), patterns.end()));
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const char* name : {"MatchingFilesDataset", "ExperimentalMatchingFilesDataset"})
    library.op(name)
        .input("patterns: string")
        .output("handle: variant")
        .stateful()
        .shape_fn([](ShapeContext& c) -> Status {
          TROUPE_TRY(c.require_rank_at_most(0, 1));
          return shape_scalar(c);
        })
        .not_differentiable(no_gradient)
        .cpu_kernel(compute<make>)
        .doc("Paths of the files that match the patterns, of each pattern in their order.");
}

} // namespace troupe::data_matching_files
