#pragma once

#include <latchkey/double_barrier.hpp>

#include "double_barrier_log.hpp"
#include "meeting_judge.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::simulation {

/// One double_barrier in somebody's hands, for as long as it is used.
struct attender {
    std::shared_ptr<client_record> by;
    std::string who;
    std::string directory;
    std::string data;                         ///< of its znodes
    const double_barrier* barrier = nullptr;  ///< null once it is destroyed
    double_barrier_log::round in;             ///< none: outside
    std::shared_ptr<participant> place;       ///< there
};

/// A double_barrier's promises, beside those of every meeting_judge:
///
///   I1   A round begins with all of its participants there, enough of them, and nobody in an
///        earlier one; who is told that he has entered is in one, that nobody else was told of.
///   I2   Who is told that everybody has left is told it when that is so, and only if all of them
///        did it by themselves, or if a later round has begun; else of a loss, for which there
///        is a cause.
///   I5   Nothing is left behind but what tells of a round that lost somebody.
///   I8   When enough are there, a round begins; when all have gone, who leaves hears of it.
///   I9   Nobody counted on who was told no. Who is inside says so, and nobody else.
///   I11  Entering and leaving take the requests that were promised.
class double_barrier_judge final : public meeting_judge {
public:
    explicit double_barrier_judge(stage& s) : meeting_judge(s), rounds_(s, truth_) {}

    void begins(const std::shared_ptr<attender>& a) { attenders_.push_back(a); }

    void entered(call& c, attender& a, std::error_code ec, bool reached);
    void left(call& c, attender& a, std::error_code ec, bool reached);

    /// Enough are there: nobody has to come to make a round begin.
    [[nodiscard]] bool can_begin(const std::string& directory) const;

    // judge
    void received(const model::connection& c, const model::packet& p) override;
    [[nodiscard]] bool idle() const override;
    void check_end() override;

private:
    void applied(const model::transaction& t, const participants& changed) override {
        check_robbed(t, changed);
        rounds_.applied(t, changed);
    }

    [[nodiscard]] bool may_watch(const std::string& path, std::int64_t) const override {
        return queues_watched_.contains(path);
    }

    [[nodiscard]] bool explains(const call& c, std::error_code ec) const override;

    void find_round(const call& c, attender& a);
    void check_not_counted_on(const call& c, const attender& a);
    void check_all_have_left(const attender& a);
    void check_loss(const attender& a);
    void check_requests(const call& c, const attender& a);
    [[nodiscard]] bool lost_somebody(const barrier_round_record& r) const;
    [[nodiscard]] bool goes_on(const participant& p, const client_record& by) const;
    [[nodiscard]] bool a_later_one_has_begun(const attender& a) const;
    [[nodiscard]] bool created_by(const participant& p, const call& c, const attender& a) const;

    double_barrier_log rounds_;
    std::vector<std::shared_ptr<attender>> attenders_;
};

}  // namespace latchkey::simulation
