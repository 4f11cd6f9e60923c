#pragma once

#include <latchkey/client.hpp>
#include <latchkey/leader_observer.hpp>

#include <string>
#include <utility>

namespace latchkey::test {

/// A leader_observer with one listener, which lives as long as the observer.
class listening_observer : public leader_observer {
public:
    listening_observer(const client& c, std::string path, listener l)
        : leader_observer(c, std::move(path)), told_(on_change(std::move(l))) {}

private:
    subscription told_;
};

}  // namespace latchkey::test
