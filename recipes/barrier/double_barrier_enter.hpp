#pragma once

#include "barrier/double_barrier_round.hpp"
#include "client/retrying_call.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// Enters a double barrier: takes a place, and waits for its round to begin.
class double_barrier_enter final : public retrying_call<bool> {
public:
    double_barrier_enter(std::shared_ptr<client_core> core, std::shared_ptr<double_barrier_state> a)
        : retrying_call(std::move(core)),
          at_(std::move(a)),
          withdrawal_limit_(this->core()->loop()) {}

private:
    /// What one look has found, and what follows from it.
    struct step {
        enum class kind : std::uint8_t { look, look_soon, ended };

        kind what = kind::look;
        attempted with = std::nullopt;  ///< if it has ended
    };

    /// The directory and the round as one look has seen them.
    struct view {
        reply directory;
        reply ready;
        std::vector<std::string> members;
    };

    task<attempted> attempt() override { return leaving_ ? withdraw() : enter(); }

    [[nodiscard]] call_aim aim() const override;
    void session_ended(loss_reason) override;
    void client_closed(const failure& why) override;
    void give_up() override;

    task<attempted> enter();
    task<attempted> withdraw();
    [[nodiscard]] oneshot<reply> create_own();
    [[nodiscard]] step created(const reply& r);
    void lose_place();

    task<step> act(view seen, const change_watch* changes);
    task<step> wait(std::vector<std::string> members,
                    bool round_is_on,
                    const change_watch* changes);
    task<step> open_round(view seen);
    task<step> join_round(view seen, const change_watch* changes);
    task<step> join_curators_round(view seen, const change_watch* changes);

    task<result_code> counted_own(std::int64_t begun);
    [[nodiscard]] request removal_at(std::int32_t version) const;
    [[nodiscard]] attempted left();
    [[nodiscard]] step seen_again(const reply& r);
    [[nodiscard]] step refused(result_code code, const std::string& path);
    [[nodiscard]] step passed(double_barrier_round round);

    /// What follows from the result for the state of the barrier object.
    [[nodiscard]] result ended(result r);

    [[nodiscard]] std::string path_of(std::string_view name) const {
        return join_path(at_->as.directory, name);
    }

    const std::shared_ptr<double_barrier_state> at_;
    directory_creation above_;  ///< if the own znode was created last in a directory not known
    bool placed_ = false;       ///< the own znode exists, as far as this client knows
    bool sent_ = false;         ///< ... or may exist
    /// Whether this participant may begin the round. The last one to arrive does: its first list
    /// shows all others. A participant that has seen too few leaves it to a later one, so that not
    /// all of them try.
    bool opens_ = false;
    bool fresh_ = false;  ///< it has not waited yet
    bool keeps_ = false;  ///< watches all arrivals and departures, for the others
    bool leaving_ = false;
    timer withdrawal_limit_;
};

}  // namespace latchkey::inline v0
