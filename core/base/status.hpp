// Status and Result: how every layer below the actors reports that something went wrong.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace troupe {

/// Canonical error codes; the numbers are gRPC's and TensorFlow's (tensorflow.error.Code).
enum class Code : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

/// The code as TensorFlow spells it: "INVALID_ARGUMENT". An unknown number gives "UNKNOWN".
std::string_view to_string(Code code);

/// Where in a running graph an error began. Filled in once, by the layer that knows.
struct Origin {
  std::string node;       ///< name of the graph node
  std::string op;         ///< its op type
  std::string device;     ///< full device name; names the task as well
  std::uint64_t step = 0; ///< step id, 0 outside a step
  bool empty() const { return node.empty() && op.empty() && device.empty() && step == 0; }
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// The outcome of an operation: ok, or a code with a sentence for people. One pointer wide; ok
/// allocates nothing. Immutable once shared: copies share the text.
class [[nodiscard]] Status {
public:
  Status() noexcept = default;
  /// Requires code != Code::ok.
  Status(Code code, std::string message);

  bool ok() const noexcept { return rep_ == nullptr; }
  Code code() const noexcept { return rep_ ? rep_->code : Code::ok; }
  const std::string& message() const noexcept;

  /// Where it began; empty until `with_origin`.
  const Origin& origin() const noexcept;
  /// A copy that carries `origin`, unless this already carries one: the first error's origin stays.
  Status with_origin(Origin origin) const;

  /// True for an error that is a consequence of another (a step's cancellation, an aborted
  /// mailbox): counted, never the step's answer when a root cause is known.
  bool derived() const noexcept { return rep_ && rep_->derived; }
  Status as_derived() const;

  /// A copy whose message is preceded by `context` and ": ".
  Status with_context(std::string_view context) const;

  /// "INVALID_ARGUMENT: sentence [node 'x' (MatMul) on /job:…, step 7]", or "OK".
  std::string to_string() const;

  friend bool operator==(const Status& a, const Status& b) {
    return a.code() == b.code() && a.message() == b.message();
  }

private:
  struct Rep {
    Code code;
    bool derived = false;
    std::string message;
    Origin origin;
  };
  std::shared_ptr<const Rep> rep_;
};

Status cancelled(std::string message);
Status unknown(std::string message);
Status invalid_argument(std::string message);
Status deadline_exceeded(std::string message);
Status not_found(std::string message);
Status already_exists(std::string message);
Status permission_denied(std::string message);
Status resource_exhausted(std::string message);
Status failed_precondition(std::string message);
Status aborted(std::string message);
Status out_of_range(std::string message);
Status unimplemented(std::string message);
Status internal(std::string message);
Status unavailable(std::string message);
Status data_loss(std::string message);

/// Thrown by a caller's mistake that a program may want to survive: the value of a failed Result, a
/// tensor's elements as another dtype. `what()` is the Status as text. Nothing else of ours throws.
class BadAccess : public std::exception {
public:
  explicit BadAccess(Status status);
  const char* what() const noexcept override { return text_->c_str(); }
  const Status& status() const noexcept { return status_; }

private:
  Status status_;
  std::shared_ptr<const std::string> text_; ///< shared: an exception's copy must not throw
};

namespace detail {
[[noreturn]] void throw_bad_access(Status status);
}

/// A value, or the Status (never ok) that says why there is none.
template <class T>
class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : value_(std::in_place_index<1>, std::move(status)) {}

  bool ok() const noexcept { return value_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  Status status() const { return ok() ? Status{} : std::get<1>(value_); }

  /// Throws BadAccess with the Status unless ok().
  T& operator*() & { return value(); }
  const T& operator*() const& { return const_cast<Result*>(this)->value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &const_cast<Result*>(this)->value(); }

private:
  T& value() {
    if (T* value = std::get_if<0>(&value_)) [[likely]]
      return *value;
    detail::throw_bad_access(*std::get_if<1>(&value_));
  }

  std::variant<T, Status> value_;
};

#define TROUPE_CONCAT_IMPL(a, b) a##b
#define TROUPE_CONCAT(a, b) TROUPE_CONCAT_IMPL(a, b)

/// Returns the error of a Status expression to our caller.
#define TROUPE_TRY(expr)                                                                           \
  do {                                                                                             \
    if (::troupe::Status troupe_status_ = (expr); !troupe_status_.ok())                            \
      return troupe_status_;                                                                       \
  } while (false)

#define TROUPE_ASSIGN_IMPL(tmp, declaration, expr)                                                 \
  auto tmp = (expr);                                                                               \
  if (!tmp.ok())                                                                                   \
    return tmp.status();                                                                           \
  declaration = *std::move(tmp)

/// `TROUPE_ASSIGN(Tensor t, make());` declares t from a Result, or returns its error to our caller.
#define TROUPE_ASSIGN(declaration, expr)                                                           \
  TROUPE_ASSIGN_IMPL(TROUPE_CONCAT(troupe_result_, __LINE__), declaration, expr)

} // namespace troupe
