#include "queue/lock_delay.hpp"

#include "loop/paced_retry.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

std::vector<std::string> delay_records_of(const queue_recipe& as,
                                          const std::vector<std::string>& znodes) {
    std::vector<std::string> all;
    for (const std::string& znode : znodes) {
        if (as.options().lock_delay.count() > 0) {
            all.push_back(join_path(std::string(parent_of(znode)),
                                    name_of_delay(as.options().lock_delay, znode)));
        }
    }
    return all;
}

task<result_code> create_delay_records(std::shared_ptr<client_core> core,
                                       std::shared_ptr<const queue_recipe> as,
                                       std::vector<std::string> znodes,
                                       std::vector<std::string> records) {
    std::vector<request> all;
    for (const std::string& path : znodes) {
        all.push_back(request::check(path));
    }
    for (const std::string& path : records) {
        all.push_back(
            request::create(path, as->data(as->mode), create_mode::persistent, *as->access));
    }
    paced_retry again(core->loop());
    while (true) {
        auto connected = core->connection_made();
        co_await connected;
        auto written = core->send(request::multi(all));
        const reply r = co_await written;
        // No other participant has this number: it was done before, and the answer was lost.
        if (r.ok() || r.code == result_code::node_exists) {
            co_return result_code::ok;
        }
        if (r.code == result_code::no_node || refused_for_good(r.code)) {
            co_return r.code;
        }
        if (core->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
}

oneshot<reply> delete_delay_record(client_core& core,
                                   const std::string& own,
                                   const std::string& record) {
    return core.send(request::multi({request::check(own), request::remove(record)}));
}

}  // namespace latchkey::inline v0
