#pragma once

#include <latchkey/group.hpp>

#include "group_log.hpp"
#include "meeting_judge.hpp"
#include "timeliness.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::simulation {

/// A membership in somebody's hands, or that he has asked for.
struct enrolment {
    std::shared_ptr<client_record> by;
    std::string who;
    std::string directory;
    std::string path;  ///< of its znode, absolute
    std::string data;  ///< the newest
    duration told{};   ///< that it is a member, or what its data is
    membership handle;
    bool over = false;  ///< left, or never had
    // When it was over.
    duration ended{};
    bool present = false;            ///< it was
    bool troubled = false;           ///< something was wrong then
    std::uint64_t connections = 0;   ///< of its client, by then
    std::uint64_t disturbances = 0;  ///< in the run, by then
    // Before.
    std::set<std::int64_t> owners_before;  ///< sessions that had the name when it was asked for
    group_log::events before;              ///< of that path, then
};

/// Somebody who watches a group.
struct watching {
    std::shared_ptr<client_record> by;
    std::string who;
    std::string directory;
    subscription listening;
    duration pause{};  ///< that its group was told to make between lists
    duration begun{};
    bool over = false;
    bool told = false;
    std::vector<group_member> newest;
    std::uint64_t there_before = 0;  ///< members, when it began
    group_log::events before;        ///< in the directory, then
};

/// A group's promises, beside those of every meeting_judge:
///
///   I1   Who is told that he is a member has a znode there; the znode stays until he leaves.
///   I2   All is well in the end: who is a member is there, once, with his newest data, and says
///        so, and nobody else is.
///   I5   Nothing is left behind.
///   I6   Nobody hears of who comes and goes but who watches.
///   I8   Who watches is told what is so, soon after the server that he is connected to has it,
///        unless he is hindered; who is a member is there as soon, and so is his newest data. In
///        the end so are all.
///   I9   Who is listed was there, like that, in some state of the servers; names are in order, one
///        of each; nothing is told twice, and nothing when it is over. Who wants no name but a free
///        one, and gets none, was told so because somebody else had it.
///   I11  Joins, leaves and new data cost those who watch what was promised, and the others
///   nothing.
/// It is no part of tests/history: a history does not know what hinders a client, and a run ends
/// only when all is well.
class group_judge final : public meeting_judge {
public:
    explicit group_judge(stage& s) : meeting_judge(s), groups_(truth_), timely_(s) {}

    /// After the faults all go on for a while: what is told late shows only while much happens.
    [[nodiscard]] bool goes_on();

    void joins(const std::shared_ptr<enrolment>& e);
    void joined(call& c, enrolment& e, std::error_code ec, membership m);
    void leaves(enrolment& e);

    void begins(const std::shared_ptr<watching>& w);
    void told(watching& w, const std::vector<group_member>& all);
    void ends(watching& w);

    /// Everybody is where he should be, and who watches knows.
    [[nodiscard]] bool agreed() const;

    // judge
    [[nodiscard]] bool idle() const override;
    void check_end() override;
    [[nodiscard]] std::string picture() const override;

private:
    void applied(const model::transaction& t, const participants& changed) override;
    void check_together() override;

    [[nodiscard]] bool may_watch(const std::string& path, std::int64_t session) const override;

    [[nodiscard]] bool may_be_misled(const model::transaction& t,
                                     const participants& changed) const;
    void check_refused(const call& c, const enrolment& e);
    void check_kept(const participant& p);
    [[nodiscard]] bool may_be_left(const enrolment& e) const;
    void ends(enrolment& e);
    [[nodiscard]] bool knows(const watching& w) const;
    [[nodiscard]] bool is_settled(const enrolment& e) const;
    [[nodiscard]] bool is_known(const participant& p) const;
    void check_joined(const enrolment& e);
    void check_told(const watching& w);
    void check_requests() const;
    void check_requests_of(const client_record& by) const;

    group_log groups_;
    timeliness timely_;
    std::optional<duration> until_;  ///< all go on
    std::vector<std::shared_ptr<enrolment>> enrolments_;
    std::vector<std::shared_ptr<watching>> watchings_;
};

}  // namespace latchkey::simulation
