#include "input.hpp"
#include "leader/leader_record.hpp"
#include "leader/transfer/mailbox.hpp"

#include <algorithm>

// What candidates write to each other, and the names of their mailboxes: anybody may write there.
// The bytes as a letter; and a line each as the name of a mailbox and of a candidate.

namespace {

using namespace latchkey;
using fuzz::require;
using kind = mailbox_message::kind;

void check_letter(std::string_view text) {
    const mailbox_message read = read_mailbox_message(text);
    switch (read.is) {
        case kind::nothing:
            require(read.who.empty(), "nothing is about nobody");
            break;
        case kind::offer:
        case kind::withdrawn:
            require(guid_in(read.who).size() == 36, "who offers is a candidate");
            require(read.who.find('/') == std::string::npos, "and its name is no path");
            break;
        case kind::resign:
            require(read.who.size() <= longest_leader_id, "an id is short");
            break;
    }
    if (read.is != kind::nothing) {
        require(read_mailbox_message(write_mailbox_message(read)) == read,
                "a letter is read again");
    }
}

/// What is written is read, whatever the id; bytes that are no text are replaced by longer ones.
void check_written(std::string_view text) {
    const std::string id(text.substr(0, longest_leader_id / 3));
    const mailbox_message read = read_mailbox_message(write_mailbox_message({kind::resign, id}));
    require(read.is == kind::resign, "any id can be written");
    require(read_mailbox_message(write_mailbox_message(read)) == read, "and is then the same");
}

void check_names(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (const auto mailbox = read_mailbox_name(name)) {
            require(mailbox->text() == name, "a mailbox has one name");
            require(mailbox->priority <= highest_priority, "a priority is one that can be had");
            require(mailbox->guid.size() == 36, "a mailbox has a candidate's GUID");
        }
        const auto guid = guid_in(name);
        require(guid.empty() || name.find(guid) == 3, "a GUID is where it should be");
    }
    for (const auto& [znode, mailbox] : reachable(names, names)) {
        require(std::ranges::count(names, znode) > 0, "a candidate is in the queue");
        const auto read = read_mailbox_name(mailbox);
        require(read && guid_in(znode) == read->guid, "a mailbox is its candidate's");
    }
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    check_letter(text);
    check_written(text);
    check_names(fuzz::split(text, '\n'));
}
