// Joining the steps of formulas.
//
// Each result is an expression of arrays, numbers and results that are there. A step's expression
// takes in those of its operands that nobody else reads, as long as there are few enough leaves; an
// array is written to when its last value is known, or one that is read repeatedly.
#include "joined_steps.h"

#include <algorithm>
#include <optional>
#include <string>

#include "ir/function.h"

namespace numbus::bindings::formula {
namespace {

constexpr size_t kMostLeaves = kMaxOperands - 1;

// A value that no instruction gives yet.
struct Expression {
  std::vector<Source> leaves;  // each once, in the order of their first use
  // Operands are leaves, or (Result) earlier operations of the same expression.
  std::vector<std::pair<Op, std::vector<Source>>> operations;
};

size_t leaf_of(Expression& e, const Source& s) {
  const auto at = std::ranges::find(e.leaves, s);
  if (at == e.leaves.end()) e.leaves.push_back(s);
  return static_cast<size_t>(std::ranges::find(e.leaves, s) - e.leaves.begin());
}

class Joining {
 public:
  Joining(const std::vector<Step>& steps, DType type) : steps_(steps), type_(type) { count(); }

  std::vector<Step> run() {
    for (size_t k = 0; k < steps_.size(); ++k) take(k);
    return std::move(made_);
  }

 private:
  // Values are numbered as steps are: which one a read means, how often each is read, and which
  // ones are the last of an array.
  void count() {
    const size_t n = steps_.size();
    reads_.resize(n, 0);
    last_.resize(n, false);
    std::vector<std::optional<size_t>> now(64);
    for (size_t k = 0; k < n; ++k) {
      std::vector<Source> in;
      for (Source s : steps_[k].in) {
        if (s.kind == Source::Given && s.at < now.size() && now[s.at])
          s = {Source::Result, *now[s.at]};
        if (s.kind == Source::Result) ++reads_[s.at];
        in.push_back(s);
      }
      in_.push_back(std::move(in));
      if (const int into = steps_[k].into; into >= 0) now.at(static_cast<size_t>(into)) = k;
    }
    for (const auto& k : now)
      if (k) last_[*k] = true;
    values_.resize(n);
    given_by_.resize(n);
  }

  // What a value is for those who read it: an expression, or what an instruction has given.
  bool is_open(const Source& s) const { return s.kind == Source::Result && values_[s.at]; }
  Source leaf(const Source& s) const { return s.kind == Source::Result ? *given_by_[s.at] : s; }

  size_t leaves_of(const std::vector<Source>& in) const {
    std::vector<Source> all;
    auto add = [&](const Source& s) {
      if (std::ranges::find(all, s) == all.end()) all.push_back(s);
    };
    for (const Source& s : in) {
      if (!is_open(s)) {
        add(leaf(s));
        continue;
      }
      for (const Source& l : values_[s.at]->leaves) add(l);
    }
    return all.size();
  }

  void take(size_t k) {
    while (leaves_of(in_[k]) > kMostLeaves) {
      // The operand with the most leaves is one leaf from now on.
      const Source* most = nullptr;
      for (const Source& s : in_[k])
        if (is_open(s) &&
            (!most || values_[s.at]->leaves.size() > values_[most->at]->leaves.size()))
          most = &s;
      give(most->at);
    }
    Expression e;
    std::vector<Source> operands;
    for (const Source& s : in_[k]) {
      if (!is_open(s)) {
        operands.push_back({Source::Given, leaf_of(e, leaf(s))});
        continue;
      }
      const Expression& part = *values_[s.at];
      const size_t before = e.operations.size();
      for (const auto& [op, in] : part.operations) {
        std::vector<Source> own;
        for (const Source& o : in)
          own.push_back(o.kind == Source::Result
                            ? Source{Source::Result, o.at + before}
                            : Source{Source::Given, leaf_of(e, part.leaves[o.at])});
        e.operations.emplace_back(op, std::move(own));
      }
      operands.push_back({Source::Result, e.operations.size() - 1});
    }
    e.operations.emplace_back(steps_[k].op, std::move(operands));
    for (const Source& s : in_[k])
      if (is_open(s)) values_[s.at].reset();  // read once, here
    values_[k] = std::move(e);
    if (last_[k] || reads_[k] != 1) give(k);
  }

  // Has an instruction give a value. One that overwrites an array comes after those that read it.
  void give(size_t k) {
    const Expression e = std::move(*values_[k]);
    values_[k].reset();
    const bool kept = last_[k];
    if (kept) {
      const Source overwritten{Source::Given, static_cast<size_t>(steps_[k].into)};
      for (size_t n = 0; n < values_.size(); ++n)
        if (values_[n] &&
            std::ranges::find(values_[n]->leaves, overwritten) != values_[n]->leaves.end())
          give(n);
    }
    made_.push_back({Op::apply, kept ? steps_[k].into : -1, e.leaves, function(e)});
    given_by_[k] = kept ? Source{Source::Given, static_cast<size_t>(steps_[k].into)}
                        : Source{Source::Result, made_.size() - 1};
  }

  std::shared_ptr<const Recordable> function(const Expression& e) const {
    ir::Function f;
    f.name = "formula";
    f.params.assign(e.leaves.size(), type_);
    f.results = {type_};
    auto add = [&](Op op, ir::Val a, ir::Val b, int64_t imm) {
      ir::Inst i;
      i.op = op;
      i.type = type_;
      i.a = a;
      i.b = b;
      i.imm = imm;
      f.body.push_back(i);
      return static_cast<ir::Val>(f.body.size() - 1);
    };
    std::vector<ir::Val> params, results;
    for (size_t n = 0; n < e.leaves.size(); ++n)
      params.push_back(add(Op::param, ir::kNone, ir::kNone, static_cast<int64_t>(n)));
    for (const auto& [op, in] : e.operations) {
      auto of = [&](size_t n) {
        if (n >= in.size()) return ir::kNone;
        return in[n].kind == Source::Result ? results[in[n].at] : params[in[n].at];
      };
      results.push_back(add(op, of(0), of(1), 0));
    }
    add(Op::give, results.back(), ir::kNone, 0);
    return recordable(std::move(f));
  }

  const std::vector<Step>& steps_;
  const DType type_;
  std::vector<std::vector<Source>> in_;
  std::vector<int> reads_;
  std::vector<bool> last_;
  std::vector<std::optional<Expression>> values_;
  std::vector<std::optional<Source>> given_by_;
  std::vector<Step> made_;
};

}  // namespace

std::vector<Step> joined(const std::vector<Step>& steps, DType type) {
  return Joining(steps, type).run();
}

}  // namespace numbus::bindings::formula
