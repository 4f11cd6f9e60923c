#pragma once

#include <latchkey/client.hpp>
#include <latchkey/leader_observer.hpp>

#include "connection_report.hpp"
#include "elect_options.hpp"
#include "inbox.hpp"
#include "journal.hpp"
#include "signals.hpp"

#include <optional>
#include <stop_token>

namespace latchkey::cli {

/// `latchkey elect -l`: tells who leads until a signal comes. Everything happens on the thread that
/// calls execute(); the first look at the servers has a thread of its own.
class leader_follow {
public:
    /// All must outlive this object.
    leader_follow(const elect_options& options,
                  const client_options& how,
                  const signals& arriving,
                  const journal& told);
    leader_follow(const leader_follow&) = delete;
    leader_follow& operator=(const leader_follow&) = delete;

    /// The exit status. Throws latchkey::error if the servers or options are not usable.
    [[nodiscard]] int execute();

private:
    void check_access(const std::stop_token& stop);
    void poll_events();
    void tell(const std::optional<leader_info>& now);

    void finish(int status) { status_ = status_.value_or(status); }

    const elect_options& options_;
    const signals& signals_;
    const journal& journal_;

    inbox inbox_;
    client client_;
    std::optional<connection_report> connection_;
    std::optional<int> status_;
};

}  // namespace latchkey::cli
