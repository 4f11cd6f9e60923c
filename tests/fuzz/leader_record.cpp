#include "leader/leader_record.hpp"

#include "input.hpp"
#include "queue/znode_names.hpp"

// The data of an election's path: any client may write anything there.

namespace {

using namespace latchkey;
using fuzz::require;

void check_read(std::string_view text) {
    const auto read = read_leader_record(text);
    const auto named = named_by_front_mark(text);
    require(named.empty() || front_mark(named) == text, "a mark is read again");
    require(may_become_record(text) == (text.empty() || read.has_value() || !named.empty()),
            "what is somebody's is left alone");
    if (!read) {
        return;
    }
    require(read->id.size() <= longest_leader_id && read->unclean.size() <= longest_leader_id,
            "an id is short");
    require(read->data.size() <= longest_leader_data, "data is bounded");
    require(read->znode.find('/') == std::string::npos, "a znode's name is no path");
    require(read->token >= 0, "a token is a zxid");
    const std::string written = write_leader_record(*read);
    require(written.size() <= longest_leader_record, "a record is bounded");
    require(read_leader_record(written) == read, "a record is read again");
    const std::string unclean = unclean_before(read, "next");
    require(unclean != "next" && unclean_before(read, read->id) != read->id,
            "nobody is warned of himself");
}

/// What a leader publishes can be read, whatever it is; bytes that are no text are replaced by
/// longer ones.
void check_written(std::string_view text) {
    const auto fields = fuzz::split(text.substr(0, longest_leader_id / 3), '\n');
    const leader_record record{.id = fields.front(),
                               .data = fields.back(),
                               .znode = "_c_x-latch-0000000001",
                               .token = static_cast<std::int64_t>(text.size())};
    const auto read = read_leader_record(write_leader_record(record));
    require(read.has_value(), "what is written can be read");
    require(read->token == record.token && read->znode == record.znode, "and is the same");
    require(read_leader_record(write_leader_record(*read)) == read, "text comes back as it was");
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    check_read(text);
    check_written(text);
}
