// print(): texts and numbers, written as CPython writes them.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::print(const Call& c) {
  const Node& n = c.n;
  Value none;
  none.type = Type::of(Type::Tag::None);
  std::string separator = " ", end = "\n";
  for (const auto& [k, v] : c.keywords) {
    if (!v.type.is(Type::Tag::Text)) not_yet(n, "print() with " + k);
    (k == "sep" ? separator : end) = v.type.text;
  }
  auto text = [&](const std::string& s) {
    auto [it, fresh] = u_.texts.try_emplace(s, static_cast<int>(u_.result.module.texts.size()));
    if (fresh) u_.result.module.texts.push_back(s);
    intrinsic(ir::Intrinsic::print_text, DType::I32, ir::kNone, ir::kNone, ir::kNone,
              ir::Space::Global, it->second);
  };
  auto print_number = [&](ir::Intrinsic which, Val v, int64_t how) {
    intrinsic(which, DType::I32, v, ir::kNone, ir::kNone, ir::Space::Global, how);
  };
  // What the runtime calls them: without a sign, float32, part of a complex number, with a sign.
  constexpr int64_t kUnsigned = 1, kSingle = 2, kPart = 4, kSigned = 8;
  std::function<void(const Value&, bool)> one = [&](const Value& v, bool inside) {
    switch (v.type.tag) {
      case Type::Tag::String: {
        const Value s = inside ? call_string(n, "repr", {v}) : v;
        if (!s.unknown())
          intrinsic(ir::Intrinsic::text, DType::I64, s.v[0], string_length(s), ir::kNone,
                    ir::Space::Global, static_cast<int64_t>(ir::Text::Print));
        break;
      }
      case Type::Tag::Text:
        // Python's repr() where it is plain.
        if (inside && std::ranges::any_of(v.type.text, [](char c) {
              return c < ' ' || c > '~' || c == '\'' || c == '\\';
            }))
          not_yet(n, "printing a string that has to be quoted");
        text(inside ? "'" + v.type.text + "'" : v.type.text);
        break;
      case Type::Tag::None: text("None"); break;
      case Type::Tag::Number: {
        int64_t how = v.type.dtype == DType::F32 || v.type.dtype == DType::C64 ? kSingle : 0;
        if (v.type.dtype == DType::Bool) {
          when(v.v[0], [&] { text("True"); }, [&] { text("False"); });
        } else if (numbus::is_integer(v.type.dtype)) {
          print_number(ir::Intrinsic::print_int, as(v, DType::I64),
                       kind(v.type.dtype) == Kind::UInt ? kUnsigned : 0);
        } else if (is_float(v.type.dtype)) {
          print_number(ir::Intrinsic::print_float, as(v, DType::F64), how);
        } else {
          // A real part of plain zero is left out, as Python does.
          Val re = as(attribute_of(n, v, "real"), DType::F64),
              im = as(attribute_of(n, v, "imag"), DType::F64);
          Val zero = b_->emit(Op::equal, DType::Bool, b_->emit(Op::bits, DType::I64, re), ci(0));
          when(
              zero,
              [&] {
                print_number(ir::Intrinsic::print_float, im, how | kPart);
                text("j");
              },
              [&] {
                text("(");
                print_number(ir::Intrinsic::print_float, re, how | kPart);
                print_number(ir::Intrinsic::print_float, im, how | kPart | kSigned);
                text("j)");
              });
        }
        break;
      }
      case Type::Tag::Iterator:
        if (v.type.text != "f-string") not_yet(n, "printing " + name(v.type), "print its elements");
        for (const Value& i : v.items) one(i, false);
        break;
      case Type::Tag::Tuple:
        if (v.type.listed) {
          const Value list = boxed(n, v);
          if (list.unknown()) return;
          if (list.type.is(Type::Tag::List)) return one(list, inside);
        }
        if (!v.type.text.empty() || v.type.listed) not_yet(n, "printing " + name(v.type));
        text(v.type.names.empty() ? "(" : v.type.names[0] + "(");
        for (size_t i = 0; i < v.items.size(); ++i) {
          if (i) text(", ");
          if (!v.type.names.empty()) text(v.type.names[i + 1] + "=");
          one(v.items[i], true);
        }
        text(v.items.size() == 1 && v.type.names.empty() ? ",)" : ")");
        break;
      case Type::Tag::List:
        text("[");
        counted(list_length(v), [&](Val i) {
          when(less(ci(0), i), [&] { text(", "); });
          one(read_item(v, i), true);
        });
        text("]");
        break;
      case Type::Tag::Dict: {
        if (v.type.is_set()) not_yet(n, "printing a set, whose order is open", "print(sorted(s))");
        text("{");
        Sequence all = sequence(n, dict_view("items", v));
        counted(all, [&](Val i) {
          when(less(ci(0), i), [&] { text(", "); });
          Value pair = all.item(i);
          if (pair.unknown()) return;
          one(pair.items[0], true);
          text(": ");
          one(pair.items[1], true);
        });
        text("}");
        break;
      }
      case Type::Tag::Array:
        if (v.type.text == "list") {
          text("[");
          counted(v.shape()[0], [&](Val i) {
            when(less(ci(0), i), [&] { text(", "); });
            one(element(v, {&i, 1}), true);
          });
          text("]");
          break;
        }
        [[fallthrough]];
      case Type::Tag::Maybe:
        when(v.v[0], [&] { one(v.items[0], inside); }, [&] { text("None"); });
        break;
      default: not_yet(n, "printing " + name(v.type), "print its elements");
    }
  };
  for (size_t i = 0; i < c.args.size(); ++i) {
    if (i) text(separator);
    one(c.args[i], false);
  }
  text(end);
  intrinsic(ir::Intrinsic::print_end, DType::I32);
  return none;
}

}  // namespace numbus::frontend
