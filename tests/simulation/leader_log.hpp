#pragma once

#include <latchkey/fencing_token.hpp>

#include "stage.hpp"
#include "transaction.hpp"
#include "truth.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::simulation {

struct client_record;

/// What somebody else puts where a leader's record is.
constexpr const char* foreign_data = "somebody's own";

/// What the servers' log tells of leaders' records: who writes them, when he may, and which tokens
/// they make. Reads records by itself, not by the recipes' code.
class leader_log {
public:
    leader_log(stage& s, truth& t, const std::set<std::string>& directories);

    void applied(const model::transaction& t);

    /// Somebody has put data of his own there, at some time.
    [[nodiscard]] bool was_foreign(const std::string& directory) const;

    /// Of a term: its token is that of the write that began it, or of its znode if that is right.
    void check_token(const std::string& who, const participant& place, fencing_token token);
    /// No other term's, or what could be one, is newer.
    void check_newest(const std::string& who, const participant& place, fencing_token token);

    /// The data of a candidate's znode.
    [[nodiscard]] const std::string& id_of(const std::string& path) const { return ids_.at(path); }

    /// How many there are, of candidates that take part in transfers.
    [[nodiscard]] std::size_t mailboxes() const noexcept { return mailboxes_.size(); }

    // What leaders publish.

    /// Returns what to publish.
    [[nodiscard]] std::string proclaims(std::shared_ptr<client_record> by, std::string who);
    void told(const std::string& data, std::error_code ec);
    void check_end();

private:
    struct record {
        std::string data;
        std::string znode;
        std::int64_t token = 0;
        bool clean = false;
        std::string successor;
    };

    struct election {
        bool foreign = false;                       ///< what is there now
        bool was_foreign = false;                   ///< something was
        bool touched = false;                       ///< by the operator
        bool replaced = false;                      ///< by the operator, and not written since
        std::map<std::string, std::int64_t> begun;  ///< terms' tokens, by their znodes
        std::map<std::string, std::int64_t> named;  ///< as successors: by their znodes, when
        std::string last_writer;                    ///< its znode
        std::int64_t last_write = 0;
    };

    struct proclamation {
        std::shared_ptr<client_record> by;
        std::string who;
        int told = 0;
        int committed = 0;
        bool refused = false;
    };

    [[nodiscard]] static std::optional<record> read(const std::string& data);
    void written(const model::transaction& t, const model::change& c, election& e);
    void check_record(const model::transaction& t, const std::string& directory, const record& r);
    void check_writer(const model::transaction& t, const participant& writer, const record& r);
    void check_successor(const model::transaction& t, const participant& writer, const record& r);
    void published(const std::string& data, const election& e);

    stage& stage_;
    truth& truth_;
    std::map<std::string, election> elections_;          ///< by directory
    std::map<std::string, std::string> ids_;             ///< of candidates, by path
    std::set<std::string> mailboxes_;                    ///< by path
    std::map<std::string, proclamation> proclamations_;  ///< by data
};

}  // namespace latchkey::simulation
