#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/server/settings.hpp"
#include "ensemble/server/transaction.hpp"
#include "ensemble/server/tree.hpp"
#include "ensemble/server/watch_table.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace latchkey::model {

/// What a server has applied of the log, and the watches on it. On the loop only.
class database {
public:
    /// `replayed`: the watch had missed the event, and was set again.
    using notify =
        std::function<void(connection&, watch_event, const std::string& path, bool replayed)>;

    database(const settings& how, notify n);

    [[nodiscard]] const tree& state() const noexcept { return tree_; }

    /// Takes over another server's state. No watch fires.
    void restore(const tree& from) { tree_ = from; }

    /// Returns the answer to the packet that asked for the transaction; `asked` is null if it came
    /// from another server.
    reply apply(const transaction& t, const packet* asked);

    [[nodiscard]] reply read(connection& c, const packet& p);

    /// Answers `ephemerals`, `count_below` and `multi_read`.
    [[nodiscard]] reply look(connection& c, const packet& p);

    void set_watches(connection& c, const packet& p);
    void watch_lastingly(connection& c, const packet& p);
    [[nodiscard]] result_code find_watches(connection& c, const packet& p);

    void forget(connection& c) { watches_.forget(c); }

    [[nodiscard]] std::size_t watches() const noexcept { return watches_.size(); }

private:
    [[nodiscard]] std::shared_ptr<const acl> access_of(std::string_view path) const;
    void notify_watchers(const change& step, const acl& before);

    const bool exists_needs_read_;
    const notify notify_;
    tree tree_;
    watch_table watches_;
};

}  // namespace latchkey::model
