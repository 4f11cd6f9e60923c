#pragma once

#include "meeting_judge.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>

namespace latchkey::simulation {

/// Barriers and double barriers: writes their calls down. Their promises, beside those of every
/// meeting_judge, are among the rules of tests/history. Only what calls cost (I11) is judged here:
/// a history counts no requests.
class barrier_judge final : public meeting_judge {
public:
    using deed = history::wish::deed;

    using meeting_judge::meeting_judge;

    /// A call begins; `data` is that of its znodes. Returns the number of its turn.
    std::size_t begins_turn(const call& c, deed what = {}, const std::string& data = {});

    /// How it ended; `inside`: what its object says of itself, if it is still there.
    void told(call& c,
              std::size_t turn,
              std::error_code ec,
              bool reached,
              std::optional<bool> inside = {});

    // Of one that has entered.
    void leaves(std::size_t turn) { told_->turn(turn).leaving = told_->moment(); }

    void left(
        call& c, std::size_t turn, std::error_code ec, bool reached, std::optional<bool> inside);

    /// Its object was destroyed.
    void outside(std::size_t turn) { inside_.erase(turn); }

    /// Whether the barrier stands.
    [[nodiscard]] bool stands(const std::string& path) const { return standing_.contains(path); }

    /// Enough are there: nobody has to come to make a round begin.
    [[nodiscard]] bool can_begin(const std::string& directory) const {
        return truth_.queue_of(directory).size() >= stage_.what.wanted;
    }

    // judge
    [[nodiscard]] bool idle() const override;

private:
    void applied(const model::transaction& t, const participants& changed) override;

    /// Participants of rounds watch each other.
    [[nodiscard]] bool may_watch(const std::string& path, std::int64_t) const override {
        return told_->is_of(history::layout::rounds) && queues_watched_.contains(path);
    }

    [[nodiscard]] bool explains(const call& c, std::error_code ec) const override;
    [[nodiscard]] history::answer answer_of(const call& c, std::error_code ec) const;
    void check_cost(const call& c);

    std::set<std::string> standing_;
    std::map<std::size_t, std::shared_ptr<client_record>> inside_;  ///< by turn
};

}  // namespace latchkey::simulation
