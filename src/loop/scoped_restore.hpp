#pragma once

namespace latchkey {

/// Puts a value back at the end of a scope.
template <class T>
class restored {
public:
    explicit restored(T& place) noexcept : place_(place), before_(place) {}

    restored(T& place, T meanwhile) noexcept : place_(place), before_(place) { place = meanwhile; }

    restored(const restored&) = delete;
    restored& operator=(const restored&) = delete;

    ~restored() { place_ = before_; }

private:
    T& place_;
    T before_;
};

}  // namespace latchkey
