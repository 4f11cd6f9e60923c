#include "input.hpp"
#include "queue/participant_record.hpp"
#include "text/utf8.hpp"

// A participant's data: any client may write anything there.

namespace {

using namespace latchkey;
using fuzz::require;

void check_text(std::string_view text) {
    require(text.size() <= longest_record, "a field is not longer than the record");
    while (!text.empty()) {
        const code_point c = decode_utf8(text);
        require(c.valid, "a field is UTF-8");
        text.remove_prefix(c.length);
    }
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    if (const auto read = read_record(text)) {
        require(text.size() <= longest_record, "a record is short");
        for (const std::string* field : {&read->host, &read->user, &read->program, &read->mode}) {
            check_text(*field);
        }
    }

    // What we write ourselves can be read, whatever the program is called.
    std::string program(text.substr(0, text.find('\0')));
    program_invocation_short_name = program.data();
    const std::string written = record_writer().write("exclusive");
    require(written.size() <= longest_record, "a record that is written is short");
    const auto again = read_record(written);
    require(again.has_value(), "what is written can be read");
    require(again->mode == "exclusive", "the mode comes back");
    require(again->since.time_since_epoch().count() > 0, "the time comes back");
}
