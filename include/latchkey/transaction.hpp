#pragma once

#include <latchkey/export.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// One step of a transaction: see hold::transact() and client::transact().
///
///     h.transact({latchkey::operation::check("/config", 7),
///                 latchkey::operation::set("/jobs/last", today)});
///
/// Paths are absolute, below the client's chroot. `any_version` matches every version. Container
/// and TTL znodes cannot be created in a transaction: ZooKeeper's C client aborts the process on
/// the servers' answer.
class operation {
public:
    enum class kind : std::uint8_t { create, set, remove, check };
    enum class lifetime : std::uint8_t {
        persistent,
        ephemeral,
        persistent_sequential,
        ephemeral_sequential
    };
    static constexpr std::int32_t any_version = -1;

    /// Creates a znode with the client's access control list. Refused with errc::znode_exists, or
    /// errc::no_such_znode if the parent does not exist.
    [[nodiscard]] static operation create(std::string path,
                                          std::string data = {},
                                          lifetime life = lifetime::persistent) {
        return {kind::create, std::move(path), std::move(data), any_version, life};
    }

    /// Replaces a znode's data. Refused with errc::no_such_znode or errc::version_mismatch.
    [[nodiscard]] static operation set(std::string path,
                                       std::string data,
                                       std::int32_t version = any_version) {
        return {kind::set, std::move(path), std::move(data), version, lifetime::persistent};
    }

    /// Deletes a znode. Refused with errc::no_such_znode, errc::version_mismatch or
    /// errc::not_empty.
    [[nodiscard]] static operation remove(std::string path, std::int32_t version = any_version) {
        return {kind::remove, std::move(path), {}, version, lifetime::persistent};
    }

    /// Changes nothing. The transaction is refused unless the znode exists and has this version.
    [[nodiscard]] static operation check(std::string path, std::int32_t version = any_version) {
        return {kind::check, std::move(path), {}, version, lifetime::persistent};
    }

    [[nodiscard]] kind what() const noexcept { return what_; }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    [[nodiscard]] const std::string& data() const noexcept { return data_; }

    [[nodiscard]] std::int32_t version() const noexcept { return version_; }

    [[nodiscard]] lifetime life() const noexcept { return life_; }

private:
    operation(kind what, std::string path, std::string data, std::int32_t version, lifetime life)
        : what_(what),
          life_(life),
          version_(version),
          path_(std::move(path)),
          data_(std::move(data)) {}

    kind what_;
    lifetime life_;
    std::int32_t version_;
    std::string path_;
    std::string data_;
};

/// The operations of a transaction that a coroutine awaits: a vector, or operations in braces. g++
/// 12 cannot compile a `co_await` with a vector in braces.
///
///     co_await h.transact_async({latchkey::operation::set("/jobs/last", today)});
class operation_list {
public:
    operation_list(std::vector<operation> all = {})  // NOLINT: implicit
        : all_(std::move(all)) {}

    template <std::same_as<operation>... More>
    operation_list(operation first, More... more) {  // NOLINT: implicit
        all_.reserve(1 + sizeof...(more));
        all_.push_back(std::move(first));
        (all_.push_back(std::move(more)), ...);
    }

    [[nodiscard]] std::vector<operation> take() && { return std::move(all_); }

private:
    std::vector<operation> all_;
};

/// What one operation of a transaction did.
struct operation_result {
    /// The operation's path. For a sequential create: with the sequence number.
    std::string path;
    /// Of the znode after the operation: 0 for a create, as counted by the servers for a set. For a
    /// check and a remove, the version that was asked for.
    std::int32_t version = operation::any_version;
    /// The number of the transaction in the servers' order, or 0 if the answer does not show it.
    /// All results of a transaction have the same one. Only the answer to a set shows it, so a
    /// transaction without a set has 0.
    std::int64_t zxid = 0;

    bool operator==(const operation_result&) const = default;
};

}  // namespace latchkey::inline v0
