// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/selectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/json_string.h"

namespace tutti::sim {
namespace {

constexpr const char* kOperators = "in, notin, =, ==, !=, gt, lt";

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsSpecial(char c) { return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<'; }

bool Holds(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool ToInteger(const std::string& text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

// Recursive descent over: requirement {"," requirement}. What it says of errors is what Kubernetes says.
class LabelSelectorParser {
 public:
  explicit LabelSelectorParser(std::string_view text) : text_(text) {}

  ApiResult<LabelSelector> Parse() {
    LabelSelector selector;
    SkipSpace();
    while (pos_ < text_.size()) {
      if (!AtWord() && text_[pos_] != '!') return Found("!, identifier, or 'end of string'");
      LabelSelector::Term term;
      if (auto parsed = ParseTerm(term); !parsed) {
        parsed.error().message = "unable to parse requirement: " + parsed.error().message;
        return tl::make_unexpected(parsed.error());
      }
      selector.terms_.push_back(std::move(term));
      if (pos_ == text_.size()) break;
      if (!Take(',')) return Found("',' or 'end of string'");
      if (!AtWord() && !(pos_ < text_.size() && text_[pos_] == '!')) return Found("identifier after ','");
    }
    return selector;
  }

 private:
  using Op = LabelSelector::Op;

  ApiResult<void> ParseTerm(LabelSelector::Term& term) {
    const bool negated = Take('!');
    if (!AtWord()) return Found("identifier");
    term.key = Word();
    if (negated || pos_ == text_.size() || text_[pos_] == ',') {
      term.op = negated ? Op::kDoesNotExist : Op::kExists;
      return {};
    }
    const size_t at = pos_;
    if (Take('!')) {
      if (Take('=')) return OneValue(term, Op::kNotIn);
      pos_ = at;
      return Found(kOperators);
    }
    if (Take('=')) {
      Take('=');
      return OneValue(term, Op::kIn);
    }
    if (Take('>')) return OneValue(term, Op::kGreater);
    if (Take('<')) return OneValue(term, Op::kLess);
    const std::string op = Word();
    if (op != "in" && op != "notin") {
      pos_ = at;
      return Found(kOperators);
    }
    term.op = op == "in" ? Op::kIn : Op::kNotIn;
    return ValueSet(term);
  }

  ApiResult<void> OneValue(LabelSelector::Term& term, Op op) {
    if (pos_ < text_.size() && text_[pos_] != ',' && !AtWord()) return Found("identifier");
    term.op = op;
    term.values.push_back(Word());
    int64_t number;
    if ((op == Op::kGreater || op == Op::kLess) && !ToInteger(term.values[0], number)) {
      return tl::make_unexpected(BadRequest(fmt::format(
          "values[0]: Invalid value: \"{}\": for 'Gt', 'Lt' operators, the value must be an integer", term.values[0])));
    }
    return {};
  }

  ApiResult<void> ValueSet(LabelSelector::Term& term) {
    if (!Take('(')) return tl::make_unexpected(BadRequest(fmt::format("found '{}' expected: '('", Token())));
    do term.values.push_back(Word());
    while (Take(','));
    if (!Take(')')) return Found("',' or ')'");
    return {};
  }

  tl::unexpected<ApiError> Found(const char* expected) const {
    return tl::make_unexpected(BadRequest(fmt::format("found '{}', expected: {}", Token(), expected)));
  }

  bool AtWord() const { return pos_ < text_.size() && !IsSpecial(text_[pos_]); }

  // What stands here, for an error message.
  std::string Token() const {
    if (pos_ >= text_.size()) return "";
    if (IsSpecial(text_[pos_])) return std::string(1, text_[pos_]);
    size_t end = pos_;
    while (end < text_.size() && !IsSpace(text_[end]) && !IsSpecial(text_[end])) ++end;
    return std::string(text_.substr(pos_, end - pos_));
  }

  std::string Word() {
    const size_t begin = pos_;
    while (pos_ < text_.size() && !IsSpace(text_[pos_]) && !IsSpecial(text_[pos_])) ++pos_;
    std::string word(text_.substr(begin, pos_ - begin));
    SkipSpace();
    return word;
  }

  bool Take(char c) {
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    SkipSpace();
    return true;
  }

  void SkipSpace() {
    while (pos_ < text_.size() && IsSpace(text_[pos_])) ++pos_;
  }

  std::string_view text_;
  size_t pos_ = 0;
};

ApiResult<LabelSelector> LabelSelector::Parse(std::string_view text) { return LabelSelectorParser(text).Parse(); }

ApiResult<LabelSelector> LabelSelector::FromJson(const Json& json) {
  LabelSelector selector;
  selector.nothing_ = json.is_null();
  for (const auto& [key, value] : MapOf(Child(json, "matchLabels")).items()) {
    selector.terms_.push_back({key, Op::kIn, {StringOf(value)}});
  }
  for (const Json& expression : ArrayOf(Child(json, "matchExpressions"))) {
    Term term{DigString(expression, "key"), Op::kExists, {}};
    for (const Json& value : ArrayOf(Child(expression, "values"))) term.values.push_back(StringOf(value));
    const std::string& op = DigString(expression, "operator");
    if (op == "In") {
      term.op = Op::kIn;
    } else if (op == "NotIn") {
      term.op = Op::kNotIn;
    } else if (op == "DoesNotExist") {
      term.op = Op::kDoesNotExist;
    } else if (op != "Exists") {
      return tl::make_unexpected(BadRequest(fmt::format("\"{}\" is not a valid label selector operator", op)));
    }
    selector.terms_.push_back(std::move(term));
  }
  return selector;
}

bool LabelSelector::Matches(const Json& object) const {
  return empty() || MatchesLabels(Dig(object, "metadata", "labels"));
}

bool LabelSelector::MatchesLabels(const Json& labels) const {
  if (nothing_) return false;
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    const Json& label = Child(labels, term.key);
    const bool present = label.is_string();
    const std::string& value = StringOf(label);
    int64_t have, bound;
    switch (term.op) {
      case Op::kIn: return present && Holds(term.values, value);
      case Op::kNotIn: return !present || !Holds(term.values, value);
      case Op::kExists: return present;
      case Op::kDoesNotExist: return !present;
      case Op::kGreater: return present && ToInteger(value, have) && ToInteger(term.values[0], bound) && have > bound;
      case Op::kLess: return present && ToInteger(value, have) && ToInteger(term.values[0], bound) && have < bound;
    }
    return false;
  });
}

namespace {

const std::set<std::string>& SelectableFields(const GroupResource& id) {
  static const std::set<std::string> everywhere = {"metadata.name", "metadata.namespace"};
  static const std::map<GroupResource, std::set<std::string>> of = [] {
    std::map<GroupResource, std::set<std::string>> fields = {
        {kPods,
         {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
          "status.phase", "status.podIP", "status.nominatedNodeName"}},
        {kNodes, {"spec.unschedulable"}},
        {kNamespaces, {"status.phase"}},
        {kEvents,
         {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
          "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
          "reportingComponent", "source", "type"}},
        {{"events.k8s.io", "events"},
         {"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion",
          "regarding.resourceVersion", "regarding.fieldPath", "reason", "reportingController", "type"}},
        {kJobs, {"status.successful"}},
        {kReplicaSets, {"status.replicas"}},
        {{"", "secrets"}, {"type"}},
    };
    for (auto& [_, set] : fields) set.insert(everywhere.begin(), everywhere.end());
    return fields;
  }();
  const auto it = of.find(id);
  return it == of.end() ? everywhere : it->second;
}

// Field paths are named after the served version; objects are held in the stored one.
std::string StoredField(const GroupResource& id, const std::string& field) {
  if (id.group == "events.k8s.io") {
    if (field.rfind("regarding.", 0) == 0) return "involvedObject." + field.substr(10);
    if (field == "reportingController") return "reportingComponent";
  }
  if (id == kEvents && field == "source") return "source.component";
  return field;
}

std::vector<std::string> SplitPath(const std::string& dotted) {
  std::vector<std::string> path;
  size_t begin = 0;
  for (size_t dot; (dot = dotted.find('.', begin)) != std::string::npos; begin = dot + 1) {
    path.push_back(dotted.substr(begin, dot - begin));
  }
  path.push_back(dotted.substr(begin));
  return path;
}

// Fields compare as text: numbers and booleans as they print, absent ones as "".
std::string TextAt(const Json& object, const std::vector<std::string>& path) {
  const Json* at = &object;
  for (const std::string& key : path) at = &Child(*at, key);
  if (at->is_null()) return path.back() == "unschedulable" || path.back() == "hostNetwork" ? "false" : "";
  return at->is_string() ? at->get<std::string>() : base::PrintJson(*at);
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

ApiResult<FieldSelector> FieldSelector::Parse(std::string_view text, const ApiResource& resource) {
  FieldSelector selector;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    if (Trim(part).empty()) continue;
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return tl::make_unexpected(BadRequest(fmt::format("invalid selector: '{}'; can't understand '{}'", part, part)));
    }
    std::string_view field = part.substr(0, equals);
    std::string_view value = part.substr(equals + 1);
    if (!value.empty() && value.front() == '=') value.remove_prefix(1);
    const bool equal = field.empty() || field.back() != '!';
    if (!equal) field.remove_suffix(1);
    const std::string name(Trim(field));
    if (!SelectableFields(resource.id).contains(name)) {
      return tl::make_unexpected(BadRequest(fmt::format("field label not supported: {}", name)));
    }
    if (name == "metadata.name" && equal) selector.name_ = Trim(value);
    selector.terms_.push_back({SplitPath(StoredField(resource.id, name)), std::string(Trim(value)), equal});
  }
  return selector;
}

bool FieldSelector::Matches(const Json& object) const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [&](const Term& term) { return (TextAt(object, term.path) == term.value) == term.equal; });
}

}  // namespace tutti::sim
