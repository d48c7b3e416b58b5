// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tvm_ascend::sim {

namespace {
constexpr const char* kKindNames[] = {"null",   "bool",  "integer", "float",
                                      "string", "array", "object"};
constexpr int kMaxDepth = 64;
}  // namespace

class JsonParser {
 public:
  explicit JsonParser(const std::string& text) : text_(text) {}

  Json document() {
    Json value = parse_value(0);
    skip_space();
    if (at_ != text_.size()) fail("unexpected text after the value");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("JSON text is wrong at byte " + std::to_string(at_) + ": " + what);
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  char peek() {
    skip_space();
    if (at_ == text_.size()) fail("the text ends early");
    return text_[at_];
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }

  void expect_word(const char* word) {
    for (; *word; ++word, ++at_) {
      if (at_ == text_.size() || text_[at_] != *word) fail("unknown word");
    }
  }

  Json parse_value(int depth) {
    if (depth > kMaxDepth) fail("nested too deeply");
    Json value;
    switch (peek()) {
      case '{':
        parse_object(&value, depth);
        break;
      case '[':
        parse_array(&value, depth);
        break;
      case '"':
        value.kind_ = Json::Kind::String;
        value.string_ = parse_string();
        break;
      case 't':
      case 'f':
        value.kind_ = Json::Kind::Bool;
        value.bool_ = peek() == 't';
        expect_word(value.bool_ ? "true" : "false");
        break;
      case 'n':
        expect_word("null");
        break;
      default:
        parse_number(&value);
    }
    return value;
  }

  void parse_object(Json* value, int depth) {
    value->kind_ = Json::Kind::Object;
    expect('{');
    if (accept('}')) return;
    do {
      if (peek() != '"') fail("expected a key");
      std::string key = parse_string();
      expect(':');
      value->fields_[std::move(key)] = parse_value(depth + 1);
    } while (accept(','));
    expect('}');
  }

  void parse_array(Json* value, int depth) {
    value->kind_ = Json::Kind::Array;
    expect('[');
    if (accept(']')) return;
    do {
      value->items_.push_back(parse_value(depth + 1));
    } while (accept(','));
    expect(']');
  }

  void parse_number(Json* value) {
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '+' || text_[at_] == '-' || text_[at_] == '.')) {
      ++at_;
    }
    const char* first = text_.data() + start;
    const char* last = text_.data() + at_;
    if (auto [end, error] = std::from_chars(first, last, value->int_);
        error == std::errc() && end == last) {
      value->kind_ = Json::Kind::Integer;
      return;
    }
    if (word("NaN", first, last)) {
      value->float_ = std::nan("");
    } else if (word("Infinity", first, last) || word("-Infinity", first, last)) {
      value->float_ = *first == '-' ? -HUGE_VAL : HUGE_VAL;
    } else if (auto [end, error] = std::from_chars(first, last, value->float_);
               error != std::errc() || end != last) {
      fail("not a number");
    }
    value->kind_ = Json::Kind::Float;
  }

  static bool word(const char* wanted, const char* first, const char* last) {
    return std::string(first, last) == wanted;
  }

  std::string parse_string() {
    expect('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      out += text_[at_] == '\\' ? parse_escape() : std::string(1, text_[at_++]);
    }
    if (at_ == text_.size()) fail("a string does not end");
    ++at_;
    return out;
  }

  std::string parse_escape() {
    static const std::string kFrom = "\"\\/bfnrt";
    static const std::string kTo = "\"\\/\b\f\n\r\t";
    if (++at_ == text_.size()) fail("a string does not end");
    const char c = text_[at_++];
    if (c == 'u') return parse_code_point();
    const size_t which = kFrom.find(c);
    if (which == std::string::npos) fail("unknown escape");
    return std::string(1, kTo[which]);
  }

  uint32_t parse_hex() {
    uint32_t code = 0;
    if (at_ + 4 > text_.size()) fail("a string does not end");
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
    if (error != std::errc() || end != text_.data() + at_ + 4) fail("unknown escape");
    at_ += 4;
    return code;
  }

  std::string parse_code_point() {
    uint32_t code = parse_hex();
    if (code >= 0xD800 && code < 0xDC00 && text_.compare(at_, 2, "\\u") == 0) {
      at_ += 2;
      code = 0x10000 + ((code - 0xD800) << 10) + (parse_hex() - 0xDC00);
    }
    auto tail = [code](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
    return {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
  }

  const std::string& text_;
  size_t at_ = 0;
};

Json Json::parse(const std::string& text) { return JsonParser(text).document(); }

void Json::wrong(const char* wanted) const {
  throw InputError(std::string("JSON holds ") + kKindNames[static_cast<int>(kind_)] + " where " +
                   wanted + " belongs");
}

bool Json::as_bool() const {
  if (kind_ != Kind::Bool) wrong("a bool");
  return bool_;
}

int64_t Json::as_int() const {
  if (kind_ == Kind::Bool) return bool_ ? 1 : 0;
  if (kind_ != Kind::Integer) wrong("an integer");
  return int_;
}

double Json::as_float() const {
  if (kind_ == Kind::Integer) return static_cast<double>(int_);
  if (kind_ != Kind::Float) wrong("a number");
  return float_;
}

const std::string& Json::as_string() const {
  if (kind_ != Kind::String) wrong("a string");
  return string_;
}

const std::vector<Json>& Json::items() const {
  if (kind_ != Kind::Array) wrong("an array");
  return items_;
}

const std::map<std::string, Json>& Json::fields() const {
  if (kind_ != Kind::Object) wrong("an object");
  return fields_;
}

const Json& Json::operator[](const std::string& key) const {
  static const Json kNull;
  auto found = fields().find(key);
  return found == fields().end() ? kNull : found->second;
}

const Json& Json::at(const std::string& key) const {
  auto found = fields().find(key);
  if (found == fields().end()) throw InputError("JSON object has no \"" + key + "\"");
  return found->second;
}

void JsonWriter::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void JsonWriter::quote(const std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out_ += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out_ += "\\u00";
      out_ += kHex[(c >> 4) & 0xF];
      out_ += kHex[c & 0xF];
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(const std::string& name) {
  separate();
  quote(name);
  out_ += ':';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(int64_t number) {
  separate();
  out_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  out_.append(buffer, error == std::errc() ? end : buffer);
  return *this;
}

JsonWriter& JsonWriter::value(const std::string& text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
  separate();
  out_ += truth ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

}  // namespace tvm_ascend::sim
