#pragma once

#include "caller.hpp"
#include "loop/loop.hpp"
#include "session/request.hpp"
#include "stage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::simulation {

/// A candidate of another library: creates a znode in the same queue, leaves it there for a while,
/// whether it leads then or not, and deletes it. Of records and tokens it knows nothing, and it
/// watches no other candidate. On the loop only.
class strange_candidate final : public caller,
                                public std::enable_shared_from_this<strange_candidate> {
public:
    using caller::caller;

    void rest() override;

    void cancel() override {}

    void release() override;

private:
    void go_on() override;
    void leave();
    void remove(const std::string& path);
    void ask(request r, std::function<void(const reply&)> done);

    std::string prefix_;  ///< of the names that it has created
    int attempts_ = 0;
};

}  // namespace latchkey::simulation
