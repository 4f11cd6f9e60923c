#pragma once

#include <latchkey/client.hpp>

#include "judge.hpp"
#include "plan.hpp"
#include "session/runtime.hpp"
#include "stage.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::simulation {

class caller;

/// One client program: a client of the ensemble, its recipe objects, and callers that use them.
/// Everything that it does it does on its own loop, so that it can be stopped as a whole. On the
/// loop only.
class program : public std::enable_shared_from_this<program> {
public:
    program(stage& s, judge& j, const plan::client& what, int number);
    ~program();

    program(const program&) = delete;
    program& operator=(const program&) = delete;

    void start();

    [[nodiscard]] const std::shared_ptr<client_record>& record() const noexcept { return record_; }

    /// How many grants were by a message.
    [[nodiscard]] std::uint64_t granted_directly() const { return stats_().acquired_directly; }

    [[nodiscard]] latchkey::loop& loop() noexcept { return *env_.loop; }

    // Faults.
    void pause();
    void resume();
    void crash();
    /// What the program does to itself, once it runs: cancelled, mutex_destroyed, client_closed,
    /// hold_released.
    void meddle(fault f);

    /// It cannot go on.
    [[nodiscard]] bool finished() const noexcept { return record_->crashed || record_->closed; }

    /// Ends the client, in one way or another.
    void finish();

    // For its workers.
    struct object {
        std::vector<std::string> paths;  ///< below the chroot
        plan::object what;
        int number = 0;  ///< of what is used now
        std::unique_ptr<used_object> used;
    };

    [[nodiscard]] object* usable(std::size_t index);
    /// For those whose objects are their own. Null when there is none any more.
    [[nodiscard]] latchkey::client* usable_client();

    [[nodiscard]] const object& object_at(std::size_t index) const { return objects_[index]; }

    void destroy_mutex(std::size_t index);

    stage& stage_;
    judge& judge_;

private:
    void hear(connection_state s);
    void add(const plan::object& o, const std::string& chroot);
    [[nodiscard]] std::size_t places_of(const plan::object& o) const;
    [[nodiscard]] caller& some_caller();

    const std::shared_ptr<client_record> record_;
    const runtime env_;
    std::optional<client> client_;
    std::function<client_stats()> stats_;
    subscription listening_;
    std::vector<object> objects_;
    int objects_made_ = 0;
    std::vector<std::shared_ptr<caller>> callers_;
};

}  // namespace latchkey::simulation
