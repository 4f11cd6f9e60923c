#include "tls/server_certificate.hpp"

#include "text/escape.hpp"
#include "tls/openssl.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <boost/asio/ip/address.hpp>

namespace latchkey::inline v0 {
namespace {

/// The most names that a message lists.
constexpr int most_names = 5;

void add(std::string& list, const std::string& one) {
    list += (list.empty() ? "" : ", ") + one;
}

std::string address_in(const ASN1_OCTET_STRING& bytes) {
    const unsigned char* data = ASN1_STRING_get0_data(&bytes);
    const int size = ASN1_STRING_length(&bytes);
    if (size == 4) {
        boost::asio::ip::address_v4::bytes_type v4{};
        std::copy(data, data + size, v4.begin());
        return boost::asio::ip::make_address_v4(v4).to_string();
    }
    if (size == 16) {
        boost::asio::ip::address_v6::bytes_type v6{};
        std::copy(data, data + size, v6.begin());
        return boost::asio::ip::make_address_v6(v6).to_string();
    }
    return "an address";
}

/// The names and addresses that a certificate is for.
std::string names_in(X509& certificate) {
    const openssl_names names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
    std::string list;
    const int count = names == nullptr ? 0 : sk_GENERAL_NAME_num(names.get());
    for (int i = 0; i < count && i < most_names; ++i) {
        const GENERAL_NAME* one = sk_GENERAL_NAME_value(names.get(), i);
        if (one->type == GEN_DNS) {
            const auto* text = ASN1_STRING_get0_data(one->d.dNSName);
            const auto size = static_cast<std::size_t>(ASN1_STRING_length(one->d.dNSName));
            add(list, escaped({reinterpret_cast<const char*>(text), size}));
        } else if (one->type == GEN_IPADD) {
            add(list, address_in(*one->d.iPAddress));
        }
    }
    if (count > most_names) {
        add(list, "...");
    }
    return list.empty() ? "no name (it has no subjectAltName)" : list;
}

std::string whose(int depth) {
    return depth == 0 ? "the server's certificate" : "the certificate of the server's authority";
}

}  // namespace

void expect_server(ssl_st& connection, const std::string& server) {
    // A name in the style of DNS ends with a dot; an address may have a scope.
    std::string name = server.substr(0, server.find('%'));
    if (name.ends_with('.')) {
        name.pop_back();
    }
    X509_VERIFY_PARAM* param = SSL_get0_param(&connection);
    X509_VERIFY_PARAM_set_hostflags(
        param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    boost::system::error_code no_address;
    static_cast<void>(boost::asio::ip::make_address(name, no_address));
    const bool set = no_address ? !name.empty() &&
                                      X509_VERIFY_PARAM_set1_host(param, name.c_str(), 0) == 1 &&
                                      SSL_set_tlsext_host_name(&connection, name.c_str()) == 1
                                : X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str()) == 1;
    if (!set) {
        // Without a name, every certificate of the authorities would pass.
        throw std::system_error(EINVAL, std::generic_category(), "TLS: the server's name");
    }
}

std::string why_refused(x509_store_ctx_st& at, const std::string& server) {
    const int code = X509_STORE_CTX_get_error(&at);
    const int depth = X509_STORE_CTX_get_error_depth(&at);
    X509* one = X509_STORE_CTX_get_current_cert(&at);
    if (one == nullptr) {
        return std::string("the server's certificate: ") + X509_verify_cert_error_string(code);
    }
    switch (code) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "the server's certificate is for " + names_in(*one) + ", not for " +
                   escaped(server) +
                   "; connect by a name that is in it, or give the server name to expect";
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return whose(depth) + " expired on " + text_of(X509_get0_notAfter(one));
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return whose(depth) + " is not valid before " + text_of(X509_get0_notBefore(one)) +
                   "; check this machine's clock";
        case X509_V_ERR_INVALID_PURPOSE:
            return whose(depth) + " is not for servers (extended key usage)";
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            return "no authority that this client trusts has signed the server's certificate, "
                   "which was issued by " +
                   text_of(X509_get_issuer_name(one)) + "; check the CA file";
        default:
            return whose(depth) + ": " + X509_verify_cert_error_string(code);
    }
}

}  // namespace latchkey::inline v0
