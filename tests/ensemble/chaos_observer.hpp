#pragma once

#include <latchkey/client.hpp>
#include <latchkey/leader_observer.hpp>

#include "listening_observer.hpp"
#include "turn_log.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace latchkey::test {

/// An observer of an election, and what it was told.
class logged_observer {
public:
    /// `number` tells it from the process's others.
    logged_observer(client& zk,
                    history::turn_log& log,
                    std::int64_t number,
                    const std::string& path);
    logged_observer(const logged_observer&) = delete;
    logged_observer& operator=(const logged_observer&) = delete;
    ~logged_observer();

private:
    history::turn_log& log_;
    const std::int64_t number_;
    std::unique_ptr<listening_observer> observer_;
};

}  // namespace latchkey::test
