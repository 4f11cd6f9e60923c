#pragma once

#include "errand.hpp"
#include "round.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey {

/// Enters a double barrier: takes a place, and waits for the round that it is in.
class barrier_entry final : public errand {
public:
    barrier_entry(std::shared_ptr<client_core> core, std::shared_ptr<attendance> a)
        : errand(std::move(core)), at_(std::move(a)), farewell_(this->core()->loop()) {}

private:
    void session_connected() override;
    void session_ended(loss) override;
    void client_closed(const failure& why) override;
    void give_up() override;

    void take_place();
    void on_created(const reply& r);
    void look();
    void on_changed();
    void judge(const reply& r);
    void open_round(std::vector<std::string> members);
    void read_round(std::vector<std::string> members);
    void on_round(const reply& directory,
                  const reply& ready,
                  const reply& own,
                  std::vector<std::string> members);
    void withdraw();
    void on_opened_or_not(const reply& directory, const reply& ready);
    void remove_own(std::int32_t version);
    void pass(barrier_round round);
    void wait();
    void end(result r);
    bool refused(const reply& r, const std::string& path);

    [[nodiscard]] std::string path_of(std::string_view name) const;

    const std::shared_ptr<attendance> at_;
    std::shared_ptr<session::watcher> watch_;
    bool placed_ = false;  ///< the own znode is there, as far as we know
    bool sent_ = false;    ///< or may be
    /// Whoever comes last opens the round: it sees all others in its first list. Who has seen too
    /// few leaves that to somebody who comes later, so that not everybody tries.
    bool opens_ = false;
    bool busy_ = false;     ///< opens a round, or reads it: what the watch tells can wait
    bool changed_ = false;  ///< it has told something meanwhile
    bool leaving_ = false;
    timer farewell_;
};

}  // namespace latchkey
