// Skipgram: pairs of words that are near each other in a text, as word2vec is trained with (T.
// Mikolov et al., "Efficient estimation of word representations in vector space", 2013). The
// numbers drawn are TensorFlow's.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/random/internal/draws.hpp"

namespace troupe::random_skipgram {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
constexpr std::int64_t sentence_words = 1000;

struct Settings {
  std::string filename;
  std::int64_t batch = 0, window = 0, min_count = 0;
  float subsample = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Settings out;
  TROUPE_ASSIGN(out.filename, c.attr<std::string>("filename"));
  TROUPE_ASSIGN(out.batch, c.attr<std::int64_t>("batch_size"));
  TROUPE_ASSIGN(out.window, c.attr<std::int64_t>("window_size"));
  TROUPE_ASSIGN(out.min_count, c.attr<std::int64_t>("min_count"));
  TROUPE_ASSIGN(out.subsample, c.attr<float>("subsample"));
  if (out.batch < 0)
    return invalid_argument(str_cat("batch_size must not be negative, but is ", out.batch));
  if (out.window < 1 || out.window > sentence_words)
    return invalid_argument(
        str_cat("window_size must be from 1 to ", sentence_words, ", but is ", out.window));
  return prepared(std::move(out));
}

/// Calls `use(word)` for each word between blanks.
template <class Use>
void for_each_word(std::string_view text, Use use) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  for (std::size_t at = 0; (at = text.find_first_not_of(blanks, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    use(text.substr(at, end - at));
    at = end;
  }
}

/// A text as numbers of words: 0 for those that are too rare, then the most frequent one.
struct Corpus {
  Tensor words, counts; ///< by number
  Tensor text;          ///< int32
};

Result<Corpus> read_corpus(KernelContext& c, const Settings& s) {
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  TROUPE_ASSIGN(auto file, files->open(s.filename));
  if (file->size() > most_bytes)
    return resource_exhausted(str_cat("The text file ", s.filename, " has ", file->size(),
                                      " bytes; at most ", most_bytes, " are read"));
  TROUPE_ASSIGN(Tensor bytes, c.allocate_temp(DType::string, Shape{}));
  TROUPE_TRY(bytes.charge(static_cast<std::size_t>(file->size())));
  std::string& text = bytes.mutable_data<std::string>()[0];
  text.resize(static_cast<std::size_t>(file->size()));
  TROUPE_TRY(file->read(0, std::as_writable_bytes(std::span(text))));

  struct Word {
    std::string_view text;
    std::int32_t count;
  };
  std::vector<Word> seen;
  std::unordered_map<std::string_view, std::size_t> places;
  std::int64_t total = 0;
  for_each_word(text, [&](std::string_view word) {
    const auto [at, is_new] = places.emplace(word, seen.size());
    if (is_new)
      seen.push_back({word, 0});
    ++seen[at->second].count;
    ++total;
  });
  if (total < s.window * 10)
    return invalid_argument(
        str_cat("The text file ", s.filename, " contains too little data: ", total, " words"));
  std::erase_if(seen, [&](const Word& word) { return word.count < s.min_count; });
  std::ranges::stable_sort(seen, std::greater<>(), &Word::count);

  Corpus out;
  const Shape vocabulary{static_cast<std::int64_t>(seen.size()) + 1};
  TROUPE_ASSIGN(out.words, c.allocate_temp(DType::string, vocabulary));
  TROUPE_ASSIGN(out.counts, c.allocate_temp(DType::int32, vocabulary));
  TROUPE_ASSIGN(out.text, c.allocate_temp(DType::int32, Shape{total}));
  TROUPE_TRY(out.words.charge(text.size()));
  const auto words = out.words.mutable_data<std::string>();
  const auto counts = out.counts.mutable_data<std::int32_t>();
  std::int64_t counted = 0;
  places.clear();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    words[i + 1] = seen[i].text;
    counts[i + 1] = seen[i].count;
    counted += seen[i].count;
    places.emplace(seen[i].text, i + 1);
  }
  words[0] = "UNK";
  counts[0] = static_cast<std::int32_t>(total - counted);
  auto* to = out.text.mutable_data<std::int32_t>().data();
  for_each_word(text, [&](std::string_view word) {
    const auto found = places.find(word);
    *to++ = found == places.end() ? 0 : static_cast<std::int32_t>(found->second);
  });
  return out;
}

/// Where a node is in its text. Any thread.
class Pairs {
public:
  /// Fills a batch, and says how far it is.
  Status next(KernelContext& c, const Settings& s, std::span<std::int32_t> examples,
              std::span<std::int32_t> labels, Tensor& epoch, Tensor& processed) {
    std::scoped_lock guard(lock_);
    if (pairs_.empty())
      draw_pairs(c, s);
    for (std::size_t i = 0; i < examples.size(); ++i) {
      std::tie(examples[i], labels[i]) = pairs_[next_++];
      if (next_ == pairs_.size()) // at once, as TensorFlow, so that what is processed is the same
        draw_pairs(c, s);
    }
    epoch.mutable_data<std::int32_t>()[0] = epoch_;
    processed.mutable_data<std::int64_t>()[0] = processed_;
    return {};
  }
  /// Reads the text first, once.
  Result<Corpus> corpus(KernelContext& c, const Settings& s) {
    std::scoped_lock guard(lock_);
    if (!corpus_.text.has_value()) {
      TROUPE_ASSIGN(corpus_, read_corpus(c, s));
      at_ = corpus_.text.num_elements();
    }
    return corpus_;
  }

private:
  static constexpr std::size_t drawn_at_once = 3000;

  void draw_pairs(KernelContext& c, const Settings& s) {
    std::vector<std::pair<std::int32_t, std::int32_t>> drawn;
    while (drawn.size() < drawn_at_once)
      drawn.push_back(draw_pair(c, s));
    pairs_ = std::move(drawn);
    next_ = 0;
  }

  std::pair<std::int32_t, std::int32_t> draw_pair(KernelContext& c, const Settings& s) {
    for (;; ++label_) {
      if (label_ >= label_end_) {
        ++processed_;
        if (++place_ >= sentence_words)
          draw_sentence(c, s);
        const auto reach = 1 + std::int64_t{words_.below(static_cast<std::uint32_t>(s.window))};
        label_ = std::max<std::int64_t>(0, place_ - reach);
        label_end_ = std::min<std::int64_t>(sentence_words, place_ + reach + 1);
      }
      if (label_ != place_)
        break;
    }
    const auto word = [&](std::int64_t i) { return sentence_[static_cast<std::size_t>(i)]; };
    const std::pair<std::int32_t, std::int32_t> out{word(place_), word(label_)};
    ++label_;
    return out;
  }

  /// The next words of the text, frequent ones left out now and then.
  void draw_sentence(KernelContext& c, const Settings& s) {
    constexpr std::int64_t look = 1 << 16;
    const auto text = corpus_.text.data<std::int32_t>();
    const auto counts = corpus_.counts.data<std::int32_t>();
    const float threshold = s.subsample * static_cast<float>(text.size());
    std::vector<std::int32_t> sentence;
    for (std::int64_t tried = 1; sentence.size() < sentence_words; ++tried, ++at_) {
      if (tried % look == 0)
        c.stop_if_cancelled();
      if (at_ >= static_cast<std::int64_t>(text.size())) {
        ++epoch_;
        at_ = 0;
      }
      const std::int32_t word = text[static_cast<std::size_t>(at_)];
      if (s.subsample > 0) {
        const auto count = static_cast<float>(counts[static_cast<std::size_t>(word)]);
        const float keep = (std::sqrt(count / threshold) + 1) * threshold / count;
        if (words_.next_float() > keep)
          continue;
      }
      sentence.push_back(word);
    }
    sentence_ = std::move(sentence);
    place_ = 0;
  }

  std::mutex lock_;
  Corpus corpus_;
  random::Words words_{arith::Philox()};
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs_;
  std::size_t next_ = 0;
  std::vector<std::int32_t> sentence_;
  std::int64_t at_ = 0;                 ///< of the text
  std::int64_t place_ = sentence_words; ///< of the example, in the sentence
  std::int64_t label_ = 0, label_end_ = 0;
  std::int64_t processed_ = 0;
  std::int32_t epoch_ = -1;
};

Status compute(KernelContext& c) {
  const auto& s = c.prepared<Settings>();
  const auto pairs = c.node_state<Pairs>([] { return std::make_shared<Pairs>(); });
  TROUPE_ASSIGN(const Corpus corpus, pairs->corpus(c, s));
  TROUPE_TRY(c.set_output(0, corpus.words));
  TROUPE_TRY(c.set_output(1, corpus.counts));
  TROUPE_ASSIGN(Tensor words, c.allocate_output(2, Shape{}));
  TROUPE_ASSIGN(Tensor epoch, c.allocate_output(3, Shape{}));
  TROUPE_ASSIGN(Tensor processed, c.allocate_output(4, Shape{}));
  TROUPE_ASSIGN(Tensor examples, c.allocate_output(5, Shape{s.batch}));
  TROUPE_ASSIGN(Tensor labels, c.allocate_output(6, Shape{s.batch}));
  words.mutable_data<std::int64_t>()[0] = corpus.text.num_elements();
  return pairs->next(c, s, examples.mutable_data<std::int32_t>(),
                     labels.mutable_data<std::int32_t>(), epoch, processed);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Skipgram")
      .output("vocab_word: string; vocab_freq: int32; words_per_epoch: int64; "
              "current_epoch: int32; total_words_processed: int64; examples: int32; labels: int32")
      .attr("filename: string; batch_size: int; window_size: int = 5; min_count: int = 5; "
            "subsample: float = 0.001")
      .stateful()
      .roles({Role::random, Role::side_effect})
      .shape_fn(shape_unknown)
      .not_differentiable("its values come from a file")
      .cpu_kernel(compute, {.prepare = prepare, .expensive = true})
      .doc("Pairs of words that are near each other in a text file, and the words of the file.");
}

} // namespace troupe::random_skipgram
