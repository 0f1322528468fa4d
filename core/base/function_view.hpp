// FunctionView: a reference to a callable, for parameters that are called before the callee
// returns.
#pragma once

#include <type_traits>

namespace troupe {

/// A reference to a callable that outlives the call it is passed to; no allocation.
template <class Signature>
class FunctionView;
template <class R, class... As>
class FunctionView<R(As...)> {
public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionView>) FunctionView(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* o, As... as) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(o))(as...);
        }) {}
  R operator()(As... as) const { return call_(object_, as...); }

private:
  void* object_;
  R (*call_)(void*, As...);
};

} // namespace troupe
