#pragma once

#include "caller.hpp"
#include "loop/loop.hpp"
#include "session/request.hpp"
#include "stage.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::simulation {

class program;

/// A candidate of another library: creates a znode in the same queue, leaves it there for a while,
/// whether it leads then or not, and deletes it. Of records and tokens it knows nothing, and it
/// watches no other candidate. On the loop only.
class strange_candidate final : public caller,
                                public std::enable_shared_from_this<strange_candidate> {
public:
    strange_candidate(program& of, std::size_t object, std::string name);

    void rest() override;

    void cancel() override {}

    void release() override;

private:
    void begin();
    void leave();
    void remove(const std::string& path);
    void ask(request r, std::function<void(const reply&)> done);

    program& of_;
    stage& stage_;
    const std::size_t object_;
    const std::string name_;

    std::string prefix_;  ///< of the names that it has created
    int attempts_ = 0;
    timer next_;
};

}  // namespace latchkey::simulation
