#include <latchkey/group.hpp>

#include "client/access_check.hpp"
#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "client/retrying_call.hpp"
#include "group/group_watch.hpp"
#include "text/path.hpp"
#include "znode/persistent_node.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

constexpr auto longest_pause = std::chrono::hours(1);

}  // namespace

// ---- a member ----

class membership::state {
public:
    explicit state(std::shared_ptr<persistent_node> p) : node(std::move(p)) {}

    state(const state&) = delete;
    state& operator=(const state&) = delete;

    ~state() {
        if (!node->core()->forked()) {
            node->core()->post([p = node] { p->leave(); });
        }
    }

    static membership make(std::shared_ptr<persistent_node> p) {
        return membership(std::make_shared<state>(std::move(p)));
    }

    const std::shared_ptr<persistent_node> node;
};

membership::membership(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}

bool membership::present() const noexcept {
    const auto here = state_.get();
    return here && !here->node->core()->forked() && here->node->here();
}

std::string membership::name() const {
    const auto here = state_.get();
    return here ? std::string(name_of(here->node->path())) : std::string();
}

void membership::set_data(std::string data) {
    const auto here = state_.get();
    if (here && !here->node->core()->forked()) {
        here->node->check_data(data);
        here->node->core()->post(
            [p = here->node, data = std::move(data)]() mutable { p->set_data(std::move(data)); });
    }
}

void membership::leave() noexcept {
    state_.exchange(nullptr);
}

// ---- the group ----

[[nodiscard]] static bool is_reached(const membership& m) noexcept {
    return static_cast<bool>(m);
}

class group::impl {
public:
    /// Joins a group. A member that nobody receives, because the thread was interrupted, leaves.
    class joining final : public retrying_call<membership> {
    public:
        explicit joining(std::shared_ptr<persistent_node> p)
            : retrying_call(p->core()), node_(std::move(p)) {}

    private:
        [[nodiscard]] call_aim aim() const override { return {"join", {node_->path()}}; }

        /// There is nothing to wait for but another session that has the name.
        [[nodiscard]] bool is_answered() const override { return node_->was_taken(); }

        void begin() override {
            attach();
            node_->start([weak = weak_from_this()](failure why, bool entered) {
                const auto self = std::static_pointer_cast<joining>(weak.lock());
                if (self && !self->finished()) {
                    self->finish({std::move(why),
                                  entered ? membership::state::make(self->node_) : membership()});
                }
            });
        }

        void give_up() override {
            node_->leave();
            finish({});
        }

        const std::shared_ptr<persistent_node> node_;
    };

    impl(std::shared_ptr<client_core> c, std::string d, group_options h)
        : core(std::move(c)), directory(std::move(d)), how(std::move(h)) {
        check_path(directory);
        if (how.access) {
            check_access(*how.access, core->options());
        }
        if (how.coalesce_for < std::chrono::nanoseconds::zero() ||
            how.coalesce_for > longest_pause) {
            throw error(errc::invalid_argument,
                        "coalesce_for of " + std::to_string(how.coalesce_for.count()) +
                            " ns is out of range: give zero to one hour");
        }
    }

    [[nodiscard]] std::shared_ptr<joining> join(std::string name,
                                                std::string data,
                                                bool only_if_free) const {
        if (name.find('/') != std::string::npos || name.empty()) {
            throw error(errc::invalid_argument,
                        "member \"" + escaped(name) +
                            "\" is not a name: give one component of a path, without '/'");
        }
        std::string path = join_path(directory, name);
        check_path(path);
        auto place = fork_safe<persistent_node>(
            core,
            persistent_node::settings{.path = std::move(path),
                                      .data = {},
                                      .access = how.access.value_or(*core->access()),
                                      .only_if_free = only_if_free});
        place->check_data(data);
        place->set_data(std::move(data));
        return std::make_shared<joining>(std::move(place));
    }

    const std::shared_ptr<client_core> core;
    const std::string directory;
    const group_options how;
};

group::group(const client& c, std::string path, group_options options)
    : impl_(fork_safe<impl>(client_core::of(c), std::move(path), std::move(options))) {}

group::~group() = default;

membership group::join_within(std::string name,
                              std::chrono::nanoseconds timeout,
                              join_options options,
                              std::error_code& ec) {
    return report(ec, [&] {
        return wait_for(impl_->join(std::move(name), std::move(options.data), timeout.count() <= 0),
                        timeout,
                        options.stop);
    });
}

void group::start_join(std::string name,
                       std::chrono::nanoseconds timeout,
                       join_options options,
                       join_handler handler) {
    start_async(impl_->join(std::move(name), std::move(options.data), timeout.count() <= 0),
                timeout,
                options.stop,
                std::move(handler));
}

awaitable<membership> group::begin_join(std::string name,
                                        std::chrono::nanoseconds timeout,
                                        join_options options) {
    std::stop_token stop = options.stop;
    return awaitable<membership>(
        [this, name = std::move(name), timeout, options = std::move(options)](
            std::stop_token both, awaitable_handler<membership> handler) mutable {
            options.stop = std::move(both);
            start_join(std::move(name), timeout, std::move(options), std::move(handler));
        },
        std::move(stop));
}

std::vector<group_member> group::members(std::error_code& ec) {
    return report(ec, [&]() -> std::vector<group_member> {
        auto names = read_children(*impl_->core, impl_->directory);
        std::sort(names.begin(), names.end());
        std::vector<group_member> found;
        for (auto& [path, r] : read_znodes(*impl_->core, paths_in(impl_->directory, names))) {
            found.push_back(member_of(std::string(name_of(path)), std::move(r)));
        }
        return found;
    });
}

subscription group::on_change(members_listener listener) {
    impl_->core->check_not_forked();
    const auto watching = std::make_shared<group_watch>(
        impl_->core, impl_->directory, impl_->how, std::move(listener));
    impl_->core->post([watching] { watching->start(); });
    return subscription(std::shared_ptr<void>(watching.get(), [watching](void*) {
        if (!watching->core()->forked()) {
            watching->end();
        }
    }));
}

const std::string& group::path() const noexcept {
    return impl_->directory;
}

}  // namespace latchkey::inline v0
