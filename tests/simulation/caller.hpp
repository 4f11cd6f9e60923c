#pragma once

#include "loop/loop.hpp"
#include "uncopied.hpp"

#include <cstddef>
#include <stop_token>
#include <string>

namespace latchkey::simulation {

struct call;
class program;
struct stage;

/// Who uses an object of a program, as a thread of it would. On the loop only.
class caller : public test::uncopied {
public:
    caller(program& of, std::size_t object, std::string name);

    /// Begins, or begins again, after a while.
    virtual void rest();

    // What may befall it at any time.
    virtual void cancel() = 0;
    virtual void release() = 0;

    /// One of the program's objects is destroyed.
    void bereave(std::size_t object);

protected:
    /// After a rest.
    virtual void go_on() = 0;

    /// Its object ends, if it is its own.
    virtual void destroy() {}

    /// Asks for the end of what waits: of a call, if there is one.
    void ask_to_stop(call* waiting, std::stop_source source);

    program& of_;
    stage& stage_;
    const std::size_t object_;
    const std::string name_;
    timer next_;
};

}  // namespace latchkey::simulation
