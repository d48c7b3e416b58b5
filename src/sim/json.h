// SPDX-License-Identifier: Apache-2.0
// The little JSON that programs, options and reports need.
#ifndef TVM_ASCEND_SIM_JSON_H_
#define TVM_ASCEND_SIM_JSON_H_

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tvm_ascend::sim {

// A program, option or argument that the simulator cannot accept.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  enum class Kind : uint8_t { Null, Bool, Integer, Float, String, Array, Object };

  // Throws InputError that says where the text is wrong.
  static Json parse(const std::string& text);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::Null; }
  bool as_bool() const;
  int64_t as_int() const;
  double as_float() const;  // integers too
  const std::string& as_string() const;
  const std::vector<Json>& items() const;
  const std::map<std::string, Json>& fields() const;
  // Member of an object; null when absent.
  const Json& operator[](const std::string& key) const;
  // Member that must be there.
  const Json& at(const std::string& key) const;

 private:
  friend class JsonParser;
  [[noreturn]] void wrong(const char* wanted) const;

  Kind kind_ = Kind::Null;
  bool bool_ = false;
  int64_t int_ = 0;
  double float_ = 0.0;
  std::string string_;
  std::vector<Json> items_;
  std::map<std::string, Json> fields_;
};

// Writes JSON text; the caller keeps keys and values in turn.
class JsonWriter {
 public:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& key(const std::string& name);
  JsonWriter& value(int64_t number);
  JsonWriter& value(double number);
  JsonWriter& value(const std::string& text);
  JsonWriter& value(bool truth);
  JsonWriter& null();
  std::string take() { return std::move(out_); }

 private:
  void separate();
  void quote(const std::string& text);

  std::string out_;
  bool first_ = true;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_JSON_H_
