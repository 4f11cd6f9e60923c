#pragma once

#include "barrier/double_barrier_round.hpp"
#include "barrier/double_barrier_withdrawal.hpp"
#include "call/retrying_operation.hpp"
#include "text/path.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

/// Enters a double barrier: takes a place, and waits for its round to begin.
class double_barrier_enter final : public retrying_operation {
public:
    double_barrier_enter(std::shared_ptr<client_core> core, std::shared_ptr<double_barrier_state> a)
        : retrying_operation(std::move(core)), at_(std::move(a)), farewell_(this->core()->loop()) {}

private:
    void session_connected() override;
    void session_ended(loss) override;
    void client_closed(const failure& why) override;
    void give_up() override;

    void take_place();
    void on_created(const reply& r);
    void lose_place();
    void look();
    void look_again();
    void on_changed();
    void judge(const reply& directory, const reply& ready, const reply& list);
    void open_round(const reply& directory, std::vector<std::string> members);
    void on_round(std::int32_t version, const reply& ready, std::vector<std::string> members);
    void on_curators_round(std::int32_t version,
                           std::int64_t begun,
                           std::vector<std::string> members);
    void pass_curators_round(std::int32_t version, const std::vector<std::string>& members);
    void start_anew(std::int32_t version);
    void look_unless_refused(const reply& r);
    void on_withdrawn(withdrawn w);
    void pass(double_barrier_round round);
    void wait(const std::vector<std::string>& members, bool round_is_on);
    void heed(std::string_view name);
    [[nodiscard]] std::shared_ptr<session::watcher> stirs();
    void end(result r);
    bool refused(const reply& r, const std::string& path);

    [[nodiscard]] std::string path_of(std::string_view name) const {
        return join_path(at_->as.directory, name);
    }

    const std::shared_ptr<double_barrier_state> at_;
    std::shared_ptr<session::watcher> watch_;
    bool placed_ = false;  ///< the own znode exists, as far as this client knows
    bool sent_ = false;    ///< ... or may exist
    /// Whether this participant may begin the round. The last one to arrive does: its first list
    /// shows all others. A participant that has seen too few leaves it to a later one, so that not
    /// all of them try.
    bool opens_ = false;
    bool fresh_ = false;    ///< it has not waited yet
    bool keeps_ = false;    ///< watches all arrivals and departures, for the others
    bool busy_ = false;     ///< begins a round or reads it: events of the watch can wait
    bool changed_ = false;  ///< the watch has reported something meanwhile
    bool leaving_ = false;
    timer farewell_;
    running_task running_;  ///< reads whether a round counts on this participant, or withdraws it
};

}  // namespace latchkey
