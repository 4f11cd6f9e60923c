#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/fencing_token.hpp>

#include "ensemble/server/transaction.hpp"
#include "leader_candidate.hpp"
#include "stage.hpp"
#include "truth.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::simulation {

/// What another program writes where a leader's record is.
constexpr const char* foreign_data = "somebody's own";

/// What the servers' log tells of leaders' records: who writes them, when he may, and which tokens
/// they make. Reads records by itself, not by the recipes' code.
class leader_log {
public:
    struct record {
        std::string leader;
        std::string data;
        std::string znode;
        std::string unclean;  ///< who has led before and not given up
        std::int64_t token = 0;
        std::uint32_t turn = 0;
        std::int32_t version = 0;
        bool clean = false;
        std::string successor;
    };

    /// What was there from then on; none: nothing, or something else.
    struct state {
        std::int64_t zxid = 0;
        std::optional<record> is;
    };

    leader_log(stage& s,
               truth& t,
               const std::set<std::string>& directories,
               const candidacies& all);

    void applied(const model::transaction& t);

    /// A leader has told the next one directly that it leads no more, with this record.
    void told(const participant& leader, const std::string& text);

    /// What has been on the path of an election, one after the other.
    [[nodiscard]] const std::vector<state>& states_of(const std::string& directory) const {
        return elections_.at(directory).states;
    }

    /// Somebody has put data of his own there, at some time.
    [[nodiscard]] bool was_foreign(const std::string& directory) const;

    /// Of a term: its token is that of the write that began it, or of its znode if that is right.
    void check_token(const std::string& who, const participant& place, fencing_token token);
    /// No other term's, or what could be one, is newer.
    void check_newest(const std::string& who, const participant& place, fencing_token token);

    /// What the znodes of one have in their access lists, so that it can be told whose they are.
    [[nodiscard]] static acl mark_of(const candidacy& c);

    /// Who created that; null if it was none of ours.
    [[nodiscard]] std::shared_ptr<candidacy> maker_of(const std::string& path) const;

    /// Whoever has read the record since `place` is there has read that its candidate failed: it
    /// was the last to lead, or the last that did not give up.
    [[nodiscard]] bool has_failed(const candidacy& c, const participant& place) const;
    /// ... may have.
    [[nodiscard]] bool may_have_failed(const candidacy& c, const participant& place) const;

    /// Of one that leads undisturbed: the record is about it.
    void check_present(const candidacy& c, const participant& place) const;

    // What leaders publish.

    /// Returns what to publish.
    [[nodiscard]] std::string proclaims(std::shared_ptr<client_record> by, std::string who);
    void told(const std::string& data, std::error_code ec);
    void check_end();

private:
    struct successor {
        fencing_token token;
        std::string by;  ///< the leader's znode
    };

    struct election {
        bool foreign = false;                        ///< what is there now
        bool was_foreign = false;                    ///< something was
        bool touched = false;                        ///< by the operator
        bool replaced = false;                       ///< by the operator, and not written since
        std::map<std::string, fencing_token> begun;  ///< terms' tokens, by their znodes
        std::map<std::string, successor> named;      ///< by their znodes
        std::string last_writer;                     ///< its znode
        std::vector<state> states;
        std::size_t last_proclaimed = 0;  ///< by the last writer
    };

    struct proclamation {
        std::shared_ptr<client_record> by;
        std::string who;
        std::size_t number = 0;  ///< of all
        int told = 0;
        int committed = 0;
        bool refused = false;
    };

    [[nodiscard]] static std::optional<record> read(const std::string& data);
    void name(const participant& writer, const record& r);
    void written(const model::transaction& t, const model::change& c, election& e);
    void check_record(const model::transaction& t, const std::string& directory, const record& r);
    void check_writer(const model::transaction& t, const participant& writer, const record& r);
    void check_successor(const participant& writer, const record& r);
    void check_before(const participant& writer, const record& r, const election& e);
    void check_gave_up(const participant& writer);
    void published(const std::string& data, election& e, bool by_another);
    template <class Reading>
    [[nodiscard]] std::pair<bool, bool> read_since(const participant& place,
                                                   const Reading& failed) const;

    stage& stage_;
    truth& truth_;
    const candidacies& all_;
    std::map<std::string, election> elections_;                 ///< by directory
    std::map<std::string, std::shared_ptr<candidacy>> makers_;  ///< by path
    std::map<std::string, std::string> data_;                   ///< by path
    std::map<std::string, proclamation> proclamations_;         ///< by data
};

}  // namespace latchkey::simulation
