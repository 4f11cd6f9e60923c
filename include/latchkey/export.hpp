#pragma once

/// Marks what liblatchkey.so offers to programs. Everything else stays inside.
#define LATCHKEY_EXPORT __attribute__((visibility("default")))

/// Marks the inside of an exported class.
#define LATCHKEY_HIDDEN __attribute__((visibility("hidden")))
