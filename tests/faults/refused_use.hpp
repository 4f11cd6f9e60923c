#pragma once

#include <latchkey/ensemble.hpp>

#include "uncopied.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace latchkey::test {

/// The two clients of a use: requests of `mine` are refused.
struct refused_stage {
    testing::ensemble& in;
    client& mine;
    client& other;

    /// Whether it comes true, though a call that was refused may try again only after a while.
    [[nodiscard]] bool comes(const std::function<bool()>& what) const {
        return in.run_until(what, std::chrono::seconds(60));
    }
};

/// One use of a recipe, on a stepped ensemble, by a client whose requests the servers refuse from
/// begin() on.
class refused_use : public uncopied {
public:
    explicit refused_use(const refused_stage& on) : on_(on) {}

    /// What the client does. What it needs beforehand is there since the constructor.
    virtual void begin() = 0;

    /// The servers do what they are asked again: the use comes to its end, or the same can be done
    /// once more. False if not.
    [[nodiscard]] virtual bool goes_on() = 0;

protected:
    const refused_stage on_;
};

struct refused_use_kind {
    const char* name;
    std::function<std::unique_ptr<refused_use>(const refused_stage&)> make;
};

/// A use whose constructor takes `how`, too.
template <class Use, class... How>
refused_use_kind refused(const char* name, How... how) {
    return {name, [how...](const refused_stage& on) { return std::make_unique<Use>(on, how...); }};
}

[[nodiscard]] std::vector<refused_use_kind> uses_of_locks();
[[nodiscard]] std::vector<refused_use_kind> uses_of_meetings();
[[nodiscard]] std::vector<refused_use_kind> uses_of_elections();

}  // namespace latchkey::test
