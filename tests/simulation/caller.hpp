#pragma once

#include <cstddef>

namespace latchkey::simulation {

/// Who uses an object of a program, as a thread of it would. On the loop only.
class caller {
public:
    caller() = default;
    caller(const caller&) = delete;
    caller& operator=(const caller&) = delete;
    virtual ~caller() = default;

    /// Begins, or begins again, after a while.
    virtual void rest() = 0;

    // What may befall it at any time.
    virtual void cancel() = 0;
    virtual void release() = 0;

    /// One of the program's objects is destroyed.
    virtual void bereave(std::size_t) {}
};

}  // namespace latchkey::simulation
