#pragma once

#include "ensemble/server/transaction.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::simulation {

/// What stands before the number in the names of participants.
struct naming {
    std::string_view exclusive = "lock-";
    std::string_view shared = {};  ///< of readers; empty: there are none
    // Of a semaphore: the name of a directory beside the queue, and before the number of a permit
    // there; empty: there is none.
    std::string_view permits = {};
    std::string_view permit = {};
    bool twins = false;  ///< who has the number of another one is right behind it
    /// Every child takes part but `ready`, and nothing is numbered.
    bool any_child = false;
    bool weighted = true;  ///< that number says how many it stands for; else one, as any child does
};

/// What stands before a name in the data that holders of mutexes leave in a directory.
inline constexpr std::string_view mark_of_first = "latchkey-first ";

/// In the order of a queue.
struct standing {
    std::int64_t zxid = 0;    ///< of its creation, or of that of whom it replaces, or is behind
    std::int64_t behind = 0;  ///< then: of its own

    auto operator<=>(const standing&) const = default;
};

/// One participant's znode, as the servers' log has it.
struct participant {
    enum class ending : std::uint8_t {
        none,
        released,  ///< by its own session
        expired,   ///< with its session, by the servers' clock
        closed,    ///< with its session, which its client ended
        taken,     ///< by the operator, or with a session that was ended by force
        robbed,    ///< by another session
    };

    std::string path;
    std::string directory;
    std::string attempt;  ///< the part of its name that tells one attempt from another
    std::string number;   ///< the end of its name
    bool shared = false;
    std::uint32_t permits = 0;  ///< that it stands for
    std::int64_t czxid = 0;
    standing place;
    std::int64_t owner = 0;  ///< 0: not ephemeral
    /// A reader that takes a writer's place; who was let in right behind.
    std::shared_ptr<participant> successor = nullptr;
    ending how = ending::none;
    std::int64_t gone = 0;  ///< the zxid of its end
    std::chrono::nanoseconds ended{};
    bool handed_on = false;  ///< its client has told the next one directly

    [[nodiscard]] bool there() const noexcept { return how == ending::none; }

    [[nodiscard]] bool foreign() const noexcept { return owner == 0; }
};

using participants = std::vector<std::shared_ptr<participant>>;

/// What is so, from the log of committed transactions: who takes part in which queue, in the order
/// of creation. Reads names by itself, not by the recipes' code.
class truth {
public:
    /// By place. A reader and the writer that it replaces have the same one.
    using queue = std::multimap<standing, std::shared_ptr<participant>>;

    truth(const naming& names, std::set<std::string> directories)
        : names_(names), directories_(std::move(directories)) {}

    /// One change of a committed transaction. Returns the participant that it created or removed,
    /// if any.
    std::shared_ptr<participant> apply(const model::transaction& t,
                                       const model::change& c,
                                       std::chrono::nanoseconds now);

    /// From now on the end of this session is no work of the servers' clock.
    void ended_by_force(std::int64_t session) { forced_.insert(session); }

    void ended_by_client(std::int64_t session) { closed_.insert(session); }

    void session_ended(std::int64_t session, std::chrono::nanoseconds now) {
        ended_.emplace(session, now);
    }

    /// When the servers have ended it, if they have.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> end_of(std::int64_t session) const {
        const auto found = ended_.find(session);
        return found == ended_.end() ? std::nullopt : std::optional(found->second);
    }

    /// Who is there.
    [[nodiscard]] const queue& queue_of(const std::string& directory) const;

    /// All that ever took part.
    [[nodiscard]] const queue& history_of(const std::string& directory) const;

    /// Children that are there and look like participants, but whose place nobody can tell: by
    /// czxid.
    [[nodiscard]] const std::map<std::int64_t, std::string>& unordered_in(
        const std::string& directory) const;

    /// Whether a child of this name is ahead of others, or may be.
    [[nodiscard]] bool looks_like_participant(std::string_view path) const;

    /// Whether a name's number is malformed, or at the end of what can be ordered.
    [[nodiscard]] bool unorderable(std::string_view path) const;

    /// Also of one that is gone; none if there never was one.
    [[nodiscard]] std::shared_ptr<participant> find(const std::string& path) const;

    /// The same, in whatever directory.
    [[nodiscard]] std::shared_ptr<participant> named(std::string_view name) const;

    /// The nearest ahead of a session's newest participant; none if it is the first or takes no
    /// part.
    [[nodiscard]] std::shared_ptr<participant> predecessor(const std::string& directory,
                                                           std::int64_t session) const;

    /// Whether the participants are those of mutexes, which a number may prove to be the first.
    [[nodiscard]] bool is_of_mutexes() const noexcept {
        return names_.exclusive == naming().exclusive && names_.permits.empty() &&
               !names_.any_child;
    }

private:
    /// A name with one of the markers in it.
    struct reading {
        std::string_view attempt;
        std::string_view number;
        bool shared = false;
    };

    [[nodiscard]] std::optional<reading> read(std::string_view path) const;
    [[nodiscard]] bool is_permit(std::string_view path) const;
    [[nodiscard]] bool takes_part(std::string_view path, std::string_view number) const;
    std::shared_ptr<participant> add(const model::transaction& t,
                                     const model::change& c,
                                     const reading& r);

    const naming names_;
    const std::set<std::string> directories_;
    std::map<std::string, queue> queues_;
    std::map<std::string, queue> histories_;
    std::map<std::string, std::map<std::int64_t, std::string>> unordered_;
    std::map<std::string, std::shared_ptr<participant>> all_;  ///< by path
    std::set<std::int64_t> forced_;
    std::map<std::int64_t, std::chrono::nanoseconds> ended_;
    std::set<std::int64_t> closed_;
};

}  // namespace latchkey::simulation
