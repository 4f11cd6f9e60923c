#pragma once

namespace latchkey::inline v0 {

/// Restores a value at the end of a scope.
template <class T>
class scoped_restore {
public:
    explicit scoped_restore(T& place) noexcept : place_(place), before_(place) {}

    scoped_restore(T& place, T meanwhile) noexcept : place_(place), before_(place) {
        place = meanwhile;
    }

    scoped_restore(const scoped_restore&) = delete;
    scoped_restore& operator=(const scoped_restore&) = delete;

    ~scoped_restore() { place_ = before_; }

private:
    T& place_;
    T before_;
};

}  // namespace latchkey::inline v0
