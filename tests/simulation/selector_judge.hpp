#pragma once

#include "election_judge.hpp"
#include "leader/selector_loop.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace latchkey::simulation {

/// What the function of a selector throws.
struct thrown_by_function {
    std::size_t selector = 0;  ///< its number
};

/// One selector, from its construction to its end.
struct selection : candidacy {
    selection() { selects = true; }

    const selector_loop* campaign = nullptr;  ///< null once it is destroyed
    bool requeues = true;
    bool started = false;  ///< and its function has not returned since, if it does not requeue
    std::stop_token stop;  ///< of the function that runs
    bool was_started = false;
    bool asked = false;      ///< the function, to return
    bool threw = false;      ///< the function, and that was not reported yet
    int refused_closed = 0;  ///< so often was reported that the client is closed
};

/// The promises of leader_selector. What is different from a mutex's:
///
///   I1   Its function never runs twice at once. Its znode stays until the function has returned.
///   I2   The function begins only while the term is valid; when it has returned the term is over.
///        A term ends with the connection for who wants that, and for nobody else.
///   I3   The record, if it is written, has the token of the term (leader_log).
///   I8   Once all is well again, every selector leads in its turn.
///   I9   What the function throws, and each refusal, is reported once, and another candidature
///        follows. Nothing else ends a selector, and without `requeue` it is idle only after its
///        function has returned. The function is asked to return when the term is lost, or when
///        somebody wants that, at once; and for no other reason.
///   I10  Its function does not begin after it was closed, and nothing is reported then.
///   I11  Becoming the leader takes the requests of a mutex.
class selector_judge final : public election_judge {
public:
    explicit selector_judge(stage& s) : election_judge(s) {}

    void starts(selection& c);
    void runs(selection& c, const leadership& term, const std::stop_token& stop);
    /// Right after it.
    void returned(selection& c, bool threw);
    void reported(selection& c, const std::exception_ptr& what);
    void interrupted(selection& c);
    /// Right before it; `by_its_end`: there is no leader any more.
    void closed(selection& c, bool by_its_end);

    // judge
    void check_end() override;

private:
    void check_together() override;
    [[nodiscard]] std::optional<testing::counters> budget(const call& c,
                                                          const hold& h) const override;
    void check_begun(selection& c);
    void check_round_trips(const selection& c);
    void check_state(selection& c);
    void check_function(selection& c);
    void refused(selection& c, std::error_code why);
};

}  // namespace latchkey::simulation
