#include "lock_choice.hpp"

#include <latchkey/error.hpp>
#include <latchkey/file_lock_path.hpp>

#include "text/escape.hpp"
#include "usage_error.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

constexpr std::uint32_t most = 1'000'000'000;

std::uint32_t count_from(const char* option, const std::string& text) {
    std::uint64_t count = text.empty() ? most + 1ULL : 0;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        count =
            digit && count <= most ? count * 10 + static_cast<std::uint64_t>(c - '0') : most + 1ULL;
    }
    if (count == 0 || count > most) {
        throw usage_error(fmt::format("{}: '{}' is no number of permits; give one from 1 to {}",
                                      option,
                                      escaped(text),
                                      most));
    }
    return static_cast<std::uint32_t>(count);
}

void choose_permits(const lock_words& words, lock_options& options) {
    if (words.shared || words.exclusive) {
        throw usage_error(fmt::format(
            "{} and {}: a semaphore's permits are neither shared nor exclusive; leave one out",
            words.shared ? "-s" : "-x",
            words.permits ? "-N" : "--limit"));
    }
    if (words.file || words.key) {
        throw usage_error(
            fmt::format("{}: permits are of a semaphore's PATH, not of a {}; for a "
                        "file give -s or -x",
                        words.permits ? "-N" : "--limit",
                        words.file ? "file" : "key"));
    }
    options.what = lock_options::kind::semaphore;
    if (words.permits) {
        options.permits = count_from("-N", *words.permits);
    }
    if (words.limit) {
        options.limit = count_from("--limit", *words.limit);
    }
    if (options.limit && options.permits > *options.limit) {
        throw usage_error(fmt::format("-N {} is more than --limit {}: it could never be granted",
                                      options.permits,
                                      *options.limit));
    }
}

void choose_all(const lock_words& words, lock_options& options) {
    const std::array<std::pair<bool, const char*>, 6> others{{{words.shared, "-s"},
                                                              {words.exclusive, "-x"},
                                                              {words.permits.has_value(), "-N"},
                                                              {words.limit.has_value(), "--limit"},
                                                              {words.file.has_value(), "--file"},
                                                              {words.key.has_value(), "--key"}}};
    for (const auto& [given, name] : others) {
        if (given) {
            throw usage_error(fmt::format(
                "--all and {}: --all takes the mutexes of several PATHs; leave one out", name));
        }
    }
    options.what = lock_options::kind::all;
}

std::string path_of(const lock_words& words) {
    try {
        return words.file ? file_lock_path(*words.file) : key_lock_path(*words.key);
    } catch (const error& e) {
        throw usage_error(
            fmt::format("{}: {}", words.file ? "--file" : "--key", escaped_message(e.what())));
    }
}

}  // namespace

void choose_lock(const lock_words& words, lock_options& options) {
    if (words.shared && words.exclusive) {
        throw usage_error("-s and -x: a lock is shared or exclusive; leave one out");
    }
    if (words.all) {
        choose_all(words, options);
        return;
    }
    if (words.permits || words.limit) {
        choose_permits(words, options);
        return;
    }
    if (words.file && words.key) {
        throw usage_error("--file and --key: each names the lock; leave one out");
    }
    const bool of_file = words.file || words.key;
    if (words.shared || words.exclusive || of_file) {
        options.what = lock_options::kind::read_write;
        options.mode = words.shared ? lock_mode::shared : lock_mode::exclusive;
    }
    if (of_file) {
        options.path = path_of(words);
    }
}

}  // namespace latchkey::cli
