#pragma once

#include "judge.hpp"

#include <map>
#include <set>
#include <string>

namespace latchkey::simulation {

/// A shared_mutex's promises, where they are not a mutex's. It follows the znodes of a hold while
/// its mode changes; a history has what programs were told.
///
///   I1   One writes, or many read. Who may upgrade is beside those that read before him, and
///        alone among his like. Between two modes of one hold nobody else comes.
///   I3   A writer's token is greater than all that were granted before, a reader's greater than
///        those of the writers before. It stays when the mode changes, but from shared.
///   I4   A reader is granted, and who may upgrade, when no writer is ahead; a writer when nobody
///        is.
///   I7   A release wakes the readers behind it up to the next writer, if it was a writer's, and
///        that writer, if nobody is between.
///   I8   A conversion ends in time; of two readers that want to write, one is told no.
///   I9   A conversion is told once, and what it led to.
class shared_mutex_judge final : public judge {
public:
    using judge::judge;

    [[nodiscard]] bool orders(const held& h) const override {
        return h.as.mode == lock_mode::exclusive;
    }

    void changes(held& h, lock_mode to, const std::optional<duration>& limit) override;
    void changed(held& h, std::error_code ec) override;

protected:
    [[nodiscard]] bool blocks(const participant& ahead, const wish& w) const override {
        return !ahead.shared || w.mode == lock_mode::exclusive;
    }

    [[nodiscard]] bool may_be_beside(const held& a, const held& b) const override;
    void follow(held& h) override;
    void check_order(const std::string& who,
                     const std::string& directory,
                     const wish& w,
                     fencing_token token) override;
    void check_wake_ups() override;
    void removed(const participant& p) override;

private:
    void check_changed(const held& h, std::error_code ec, lock_mode from);
    void check_new_mode(held& h, lock_mode from);
    void check_new_znode(held& h, lock_mode from);
    [[nodiscard]] bool is_first_of_its_kind(const participant& p) const;
    [[nodiscard]] bool wants_to_upgrade(const participant& p) const;

    /// The newest tokens that were valid, by directory.
    struct tokens {
        fencing_token of_all;
        fencing_token of_exclusive;
        fencing_token of_alone;  ///< exclusive, or may become so
    };

    std::map<std::string, tokens> newest_;
    std::map<std::string, std::set<std::int64_t>> may_wake_;  ///< sessions, by what was removed
};

}  // namespace latchkey::simulation
