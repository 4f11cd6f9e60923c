#pragma once

#include "ensemble/server/transaction.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace latchkey::model {

struct text_hash {
    using is_transparent = void;

    std::size_t operator()(std::string_view s) const noexcept {
        return std::hash<std::string_view>()(s);
    }
};

template <typename Value>
using text_map = std::unordered_map<std::string, Value, text_hash, std::equal_to<>>;
using text_set = std::unordered_set<std::string, text_hash, std::equal_to<>>;

struct znode {
    std::string data;
    bool no_data = false;  ///< absent, which is not the same as empty
    std::shared_ptr<const acl> access;
    std::int64_t czxid = 0;
    std::int64_t mzxid = 0;
    std::int64_t pzxid = 0;  ///< zxid of the last change of its children
    std::int64_t ctime = 0;
    std::int64_t mtime = 0;
    std::int64_t owner = 0;
    std::int32_t version = 0;
    std::int32_t aversion = 0;
    std::int32_t counter = 0;  ///< children ever created; the number of the next sequential one
    text_set children;         ///< names

    [[nodiscard]] bool ephemeral() const noexcept { return owner != 0 && owner != container_owner; }

    [[nodiscard]] server_stat stat() const noexcept;

    bool operator==(const znode&) const = default;
};

struct session_record {
    std::chrono::milliseconds timeout{};
    std::set<std::string> ephemerals;  ///< paths

    bool operator==(const session_record&) const = default;
};

/// The znodes and sessions after some prefix of the log.
class tree {
public:
    /// What is needed to undo one change.
    struct undo {
        change what;
        znode before;  ///< remove, set_data, set_acl: the znode; create: only the parent's numbers
    };

    /// The view of the proposals or of the commits. They differ in one thing: the counter of
    /// children continues beyond 2^31 - 1 in proposals, and stops there in commits
    /// (ZOOKEEPER-3249).
    enum class view : std::uint8_t { committed, proposed };

    /// `zxid` is the one before the first entry of the log.
    explicit tree(view v = view::committed, std::int64_t zxid = 0);

    [[nodiscard]] const znode* find(std::string_view path) const;

    [[nodiscard]] std::int64_t zxid() const noexcept { return zxid_; }

    /// The number of znodes below a path.
    [[nodiscard]] std::int32_t count_below(std::string_view path) const;

    /// The number of znodes.
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

    /// By id.
    [[nodiscard]] const std::map<std::int64_t, session_record>& sessions() const noexcept {
        return sessions_;
    }

    [[nodiscard]] const text_set& containers() const noexcept { return containers_; }

    [[nodiscard]] std::vector<std::string> children(std::string_view path) const;

    /// Applies one change of the transaction `zxid`.
    void apply(const change& c, std::int64_t zxid);

    /// As apply() of one change, and returns what undoes it.
    [[nodiscard]] undo apply_undoably(const change& c, std::int64_t zxid);
    void revert(undo u);

    /// Applies what a transaction does besides its changes.
    void apply_session(const transaction& t);

    /// Replaces a znode's proposed counter by the committed one.
    void settle_counter(std::string_view path, std::int32_t counter);

    bool operator==(const tree&) const = default;

    /// A copy with the other view.
    [[nodiscard]] tree as(view v) const;

private:
    [[nodiscard]] znode* at(std::string_view path);
    void create(const change& c, std::int64_t zxid);
    void remove(const std::string& path, std::int64_t zxid);
    void add_owner(const std::string& path, std::int64_t owner);
    void remove_owner(const std::string& path, std::int64_t owner);

    view view_;
    text_map<znode> nodes_;
    text_set containers_;
    std::map<std::int64_t, session_record> sessions_;
    std::int64_t zxid_;
};

}  // namespace latchkey::model
