// SPDX-License-Identifier: Apache-2.0
// printf of a text, or of a text with one value.
#include <cstdio>
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kFormat, kValue };

const char* text_of(const Call& call) {
  return reinterpret_cast<const char*>(call.params[kFormat]);
}

// One conversion of a format: where it starts and ends, and its letter; without: start is the end.
struct Conversion {
  size_t start;
  size_t flags_end;  // flags, width and precision end; a length may follow
  size_t end;
  char letter;
};

Conversion next_conversion(const std::string& text, size_t from) {
  for (size_t at = text.find('%', from); at != std::string::npos; at = text.find('%', at + 2)) {
    if (text.compare(at, 2, "%%") == 0) continue;
    const size_t flags = text.find_first_not_of("-+ #0123456789.", at + 1);
    const size_t letter =
        flags == std::string::npos ? flags : text.find_first_not_of("hlzjt", flags);
    if (letter == std::string::npos) return {at, text.size(), text.size(), '\0'};
    return {at, flags, letter + 1, text[letter]};
  }
  return {text.size(), text.size(), text.size(), ' '};
}

bool has_value(const Call& call) { return call.op->n_params > kValue; }

void access(const Call& call, AccessList& list) {
  const std::string text = text_of(call);
  const Conversion first = next_conversion(text, 0);
  const bool converts = first.start < text.size();
  if (converts && next_conversion(text, first.end).start < text.size()) {
    list.fault("prints more than one value; print them one by one");
  } else if (converts != has_value(call)) {
    list.fault(converts ? "has no value for its conversion" : "has a value and no conversion");
  } else if (converts) {
    const char* letters = is_float(call.variant->scalar) ? "fFeEgG" : "diuxXo";
    if (first.letter == '\0' || std::strchr(letters, first.letter) == nullptr)
      list.fault(std::string("cannot print ") + name_of(call.variant->scalar) + " with %" +
                 first.letter);
  }
}

std::string without_escapes(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '%' && i + 1 < text.size() && text[i + 1] == '%') ++i;
  }
  return out;
}

template <typename T>
std::string formatted(const std::string& format, T value) {
  char out[512];
  std::snprintf(out, sizeof(out), format.c_str(), value);
  return out;
}

std::string print(const Call& call, const Memories*) {
  const std::string text = text_of(call);
  if (!has_value(call)) return without_escapes(text);
  const Conversion at = next_conversion(text, 0);
  std::string conversion = text.substr(at.start, at.flags_end - at.start);
  const int64_t word = call.params[kValue];
  const std::string value =
      is_float(call.variant->scalar)
          ? formatted(conversion + at.letter, bit_cast<double>(word))
          : formatted(conversion + "ll" + at.letter, static_cast<long long>(word));  // NOLINT
  return without_escapes(text.substr(0, at.start)) + value + without_escapes(text.substr(at.end));
}

}  // namespace

extern const Body body_printf;
const Body body_printf{access, nullptr, nullptr, nullptr, nullptr, nullptr, print};

}  // namespace tvm_ascend::sim
