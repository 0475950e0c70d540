// One function on its way to IR. Types are found by building: a pass emits the body with the types
// of variables that the passes before have found, and is repeated until it finds no wider ones.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "base/host_call.h"
#include "frontend/state.h"
#include "ops/reductions.h"

namespace numbus::frontend {

// Whether statements assign to a name that an expression reads.
bool renews(const std::vector<Node>& body, const Node& read);

class Lower : private State {
 public:
  Lower(Unit& u, Spec& spec);
  // The type of the result; the function is left in the module.
  void run();

  friend struct Arrays;

 private:
  // A parallel loop's body is a function of its own, which sees the outer one's variables by value.
  struct Portion;

  // --- lower.cpp: passes, variables, errors
  void pass();
  [[noreturn]] void fail(const Node& at, const std::string& message, const std::string& hint = "");
  [[noreturn]] void not_yet(const Node& at, const std::string& what, const std::string& hint = "");
  [[noreturn]] void unsupported(const Node& n);
  Value read_variable(const Node& at, const std::string& name);
  Variable* find_variable(const std::string& name, const Scope* last = nullptr);
  // `fresh`: the value has just been made, with no loop or branch since.
  void assign_name(const Node& at, const std::string& name, Value v, bool fresh = false);
  void put_in_variable(const Node& at, const std::string& name, Value v, bool fresh);
  void remember(const std::string& key, const Value& v);
  static size_t recall(Value& v, const std::vector<std::optional<Scalar>>& known, size_t at);
  Variable& declare(const std::string& name, const Type& t);
  std::vector<Val> flatten(const Value& v);
  Value aligned(Type t, std::vector<Val> params, size_t first);
  Value unflatten(const Type& t, std::span<const Val> words, size_t& next);
  Value load_slots(const Type& t, std::span<const Val> slots);
  Value convert_to(const Node& at, const Value& v, const Type& t);
  int site(const Node& at, const std::string& exception, const std::string& text);
  // Whether the kernel is checked as it runs; and sites in it, which count from 1.
  bool checks_threads() const { return u_.options.kernel && u_.options.debug; }
  int64_t site_of(const Node& at) { return site(at, "", "") + 1; }
  void thread_ends(const Node& at);
  void raise_at(int site, Val first = ir::kNone, Val second = ir::kNone);
  void leave_function();
  void retain(const Value& v);
  // Keeps memory until the statement ends: an owner counted for it, or a value that names hold.
  void own(Val owner);
  void hold(const Value& v);
  void release_owners();
  void forget_temporaries(size_t keep);
  Scope& new_scope(Scope* outer, const Source* source, std::string prefix);
  Value local_function(const Node& n, const std::string& name);

  // --- uncertain.cpp
  static std::string flag_of(const std::string& name) { return "?" + name; }
  void enter(Scope& scope, const Node& definition);
  void make_flags(Scope& scope, const std::set<std::string>& names);
  void has_value(const std::string& name, bool yes);

  Scope* scope_of(const Node& definition);
  std::optional<Val> flag(const std::string& name);
  bool expect_value(const Node& at, const std::string& name, const UncertainRead& read);
  void raise_without_value(const Node& at, const std::string& name, bool free);
  void expect_value_for_lifted(const Node& at, const std::string& name);

  // --- statements.cpp
  // Whether control never gets past it: what follows is not looked at.
  bool block(const std::vector<Node>& body);
  bool statement(const Node& n);
  bool carry_out(const Node& n);
  void assign(const Node& target, const Value& v, bool fresh = false);
  void assign_starred(const Node& target, const Value& v);
  void assign_around(const Node& target, const Value& v);
  void aug_assign(const Node& n);
  bool if_statement(const Node& n);
  void return_value(const Node& n, const Value& v);

  // --- exceptions.cpp
  bool leave_loop(const Node& n, bool breaks);
  void leave_by_return();
  bool try_statement(const Node& n);
  bool try_and_handle(const Node& n);
  bool handlers(const Node& n, size_t at, const Caught& error);
  Caught new_caught();
  void take(const Caught& c);
  void raise_again(const Caught& c);
  Val table_says(const std::vector<std::string>& classes, Val site);
  std::vector<std::string> classes_of(const Node& n);
  Val is_caught(const Node& type, const Caught& error);
  void know_bases(const Node& n);
  static bool is_caught(const Value& v) {
    return v.type.is(Type::Tag::Module) && v.type.text == "exception";
  }
  void refuse_exception(const Node& n, const Value& v);

  // --- raised.cpp
  std::optional<std::string> noted(const Value& v, std::vector<Val>& values);
  Raised new_exception(const Node& n, const std::string& cls, std::span<const Node> args);
  Val owned_arguments(const Node& n, const Value& tuple);
  Raised raised_by(const Node& at, const Node& exc);
  void raise_statement(const Node& n);
  void assert_statement(const Node& n);
  void note_error(Val site, Val first, Val second, Val cause = ir::kNone);
  Val new_cause(Val site, Val first, Val second, Val owner, Val cause);
  void ask_of_error(const Node& n, const Caught& c, HostCall what, int64_t how, Val out);
  Value text_of_error(const Node& n, const Value& e, bool repr);
  Value arguments_of_error(const Node& n, const Value& e);
  std::optional<Value> item_of_error(const Node& n);
  Value words_of_error(const Node& n, const Caught& c, const std::string& what, const Type& all);

  // The statements under a condition; either may be empty.
  void when(Val condition, const std::function<void()>& yes,
            const std::function<void()>& no = nullptr, int64_t mark = 0);

  // --- loops.cpp
  bool loop_body(const Node& n, const Loop& loop);
  bool loop_else(const Node& n, Val ended);
  bool for_loop(const Node& n);
  bool for_loop_over(const Node& n);
  bool while_loop(const Node& n);
  Val comes_before(Val at, Val stop, Val step);
  Val stop_of_range(const Node& n, const Value& range);
  void raise_far_range(const Node& n);
  bool range_loop(const Node& n, const Value& range);
  void parallel_loop(const Node& n, const Value& range);
  bool unrolled_loop(const Node& n, const Value& items);
  Sequence sequence(const Node& at, const Value& v);
  Sequence items_of(const Node& at, const Value& v);
  void over_all(const Sequence& s, const std::function<void(const Value&)>& body);
  Val length_of_range(const Value& range);
  void counted(Val count, const std::function<void(Val)>& body);  // for (i = 0; i < count; ++i)
  void counted(const Sequence& over, const std::function<void(Val)>& body, int64_t mark = 0);
  std::function<Val()> least_now(const std::vector<Sequence>& all);

  // --- objects.cpp
  int member(const Type& object, const char* kind, const std::string& name);
  Value new_object(const Call& c, const Type& cls);
  std::pair<size_t, Val> field_at(const Type& object, const std::string& name);
  Value attribute_of_object(const Node& n, const Value& object, const std::string& name);
  void set_attribute_of_object(const Node& n, const Value& object, const std::string& name,
                               const Value& given);
  Value as_field(const Node& n, const std::string& name, const Value& given, const Type& t);
  void store_attribute(const Node& n, const Value& owner, const std::string& name, const Value& v);
  std::optional<Value> call_special(const Node& n, const std::string& name,
                                    std::vector<Value> args);
  Value binary_of_object(const Node& n, Op op, const Value& a, const Value& b);
  Value renewed(const Node& n, Op op, const Value& old, const Value& more);
  Value compare_object(const Node& n, NodeKind op, const Value& a, const Value& b);
  std::optional<Value> builtin_of_object(const Call& c, const std::string& name);
  Val truth_of_object(const Node& n, const Value& v);
  Value object_method(const Call& c, const Value& object, const std::string& name);
  std::optional<Value> call_overloaded(const Call& c, const std::string& what);

  // --- records.cpp
  static bool is_records(const Value& v);
  Value field_of_records(const Node& n, const Value& v, const std::string& field);
  Value index_records(const Node& n, const Value& v, const Value& by);
  Value value_of_field(const Node& n, const Value& v, const std::string& name);
  static std::vector<Val> shape_of_records(const Value& v);
  void fill_records(const Node& n, const Value& to, const Value& from);
  void store_records(const Node& n, const Value& v, const Value& by, const Value& from);
  // Which parameters' memory, and which made here, the arrays in a value may lie in, also those
  // that its lists may hold.
  uint64_t origin_of(const Value& v) const;
  void put_in_lists(uint64_t origin);
  // Of memory that nothing else is known to lie in.
  uint64_t own_origin() const { return uint64_t{1} << (32 + temporaries_.size() % 32); }
  static void set_origin(Value& v, uint64_t origin);

  // --- iterators.cpp
  Value indices_to_loop_over(const Call& c, const std::string& name);
  std::vector<Val> unravelled(Val at, std::span<const Val> shape);
  std::optional<Sequence> marked_sequence(const Node& at, const Value& v);
  Value element_of_flat(const Node& n, const Value& a, const Value& by);
  bool generator_loop(const Node& n);
  void yield(const Node& n);

  // --- generators.cpp
  static bool is_generator(const Node& definition);
  std::optional<Value> as_result(const Node& n, const Value& v);
  void yield_from_here(const Node& n, const Value& v);
  void begin_generator();
  Value new_generator(const Node& n, const Spec& spec, const std::vector<Value>& args,
                      const std::vector<Val>& words);
  Val resumed(const Node& n, const Value& generator);
  Value yielded(const Value& generator);
  bool loop_over_generator(const Node& n, const Value& generator);
  void each_yielded(const Node& n, const Value& over,
                    const std::function<void(const Value&)>& each);
  std::optional<Value> call_iterator(const Call& c, const std::string& name);

  // --- operators.cpp
  Value call_operator(const Call& c, const std::string& name);

  // --- strings.cpp
  static Value text(std::string of);
  static int64_t length_of_text(const Value& a);
  Value string_of(const Node& n, const Value& v);
  Value held(const Node& n, const Value& v);
  Value part_of_string(const Value& s, Val start, Val stop);
  Val string_length(const Value& s) { return s.v[2]; }
  Value call_string(const Node& n, const char* what, std::vector<Value> args);
  Value index_text(const Node& n, const Value& a, const Value& by);
  Value binary_text(const Node& n, Op op, const Value& a, const Value& b);
  std::optional<Value> compare_text(const Node& n, NodeKind op, const Value& a, const Value& b);
  Value contained_text(const Node& n, const Value& a, const Value& b);
  Value joined_text(const Node& n);
  Value text_of_parts(const Node& n, std::span<const Value> parts);
  Value text_of(const Node& n, const Value& v);
  Value representation_of(const Node& n, const Value& v);
  Value text_of_float(Val bits, Val format, int64_t room);
  Value make_translation(const Call& c);
  Value formatted(const Node& n, const Value& v, const Value& spec);
  Value as_pythons(const Node& n, const Value& v);
  Value formattable(const Node& n, const Value& v);
  Value formattable_tuple(const Node& n, std::span<const Value> values);
  int64_t sort_of(const Node& n, const Value& v);
  Value percent_of(const Node& n, const Value& text, const Value& values);
  Value filled_format(const Call& c, const Value& self, const std::string& name);
  Value string_method(const Call& c, const Value& self, const std::string& name);
  Value string_primitive(const Call& c, const std::string& what);
  std::optional<Value> call_text_builtin(const Call& c, const std::string& name);

  // --- dicts.cpp
  static bool is_dict_view(const Value& v);
  static Type dict_type(Type key, Type value);
  static bool is_open(const Type& t);
  static void close_type(Type& t);
  void refuse_in_kernel(const Node& n, const char* what);
  Val dict_word(const Value& dict, int64_t which);
  void set_dict_word(const Value& dict, int64_t which, Val to);
  Val dict_length(const Value& dict);
  void dict_step(const Value& dict, ir::DictStep step, Val entry = ir::kNone);
  Value new_dict(const Type& t);
  std::pair<Val, Val> entry_at(const Value& dict, Val entry, int64_t offset);
  Value key_of_entry(const Value& dict, Val entry);
  Value value_of_entry(const Value& dict, Val entry);
  void set_value_of_entry(const Node& n, const Value& dict, Val entry, const Value& v);
  Val hash_of(const Node& n, const Value& key);
  Type* type_behind(const Node& n, std::string* key = nullptr);
  Type dict_holding(const Node& n, const Type& dict, const Type& key, const Type& value);
  bool widen_dict(const Node& n, const Node& receiver, const Value& dict, const Type& key,
                  const Type& value);
  Value as_key(const Node& n, const Value& dict, const Value& key);
  Val call_dict(const Node& n, const char* what, const Value& dict, const Value& key);
  void raise_key_error(const Node& n, const Value& key);
  void learn_key(const Node& n, const Node& receiver, const Value& dict, const Value& key);
  Value read_dict(const Node& n, const Value& dict, const Value& given);
  void store_dict(const Node& n, const Node& receiver, const Value& dict, const Value& given,
                  const Value& v);
  void delete_key(const Node& n, const Value& dict, const Value& given);
  void expect_own_dict(const Node& n, const Node& receiver, const Value& dict);
  Value in_dict(const Node& n, const Value& dict, const Value& given);
  Value in_values(const Node& n, const Value& values, const Value& given);
  Value in_items(const Node& n, const Value& items, const Value& given);
  Value binary_dicts(const Node& n, Op op, const Value& a, const Value& b);
  Value equal_dicts(const Node& n, const Value& a, const Value& b);
  Value collect_dict(
      const Node& n,
      const std::function<void(const std::function<void(const Value&, const Value&)>&)>& run);
  Value dict_literal(const Node& n);
  Value dict_from(const Call& c);
  Value dict_from_keys(const Call& c);
  Value empty_dict(const Call& c);
  void pairs_of(const Node& n, const Value& from,
                const std::function<void(const Value&, const Value&)>& put);
  Value copy_dict(const Node& n, const Value& from);
  Value dict_comprehension(const Node& n);
  Value to_dict(const Node& n, const Value& v, const Type& t);
  static Value dict_view(const std::string& what, const Value& dict);
  Sequence dict_sequence(const Node& at, const Value& v);
  Value dict_method(const Call& c, const Node& receiver, const Value& self,
                    const std::string& name);
  Value dict_primitive(const Call& c, const std::string& what);

  // --- sets.cpp
  static Type set_type(Type item);
  Value collect_set(const Node& n,
                    const std::function<void(const std::function<void(const Value&)>&)>& run);
  Value set_literal(const Node& n);
  Value set_comprehension(const Node& n);
  Value set_from(const Node& n, const std::vector<Value>& args);
  Value to_set(const Node& n, const Value& v, const Type& t);
  Type joined_set(const Node& n, const Value& a, const Value& b);
  Value binary_sets(const Node& n, Op op, const Value& a, const Value& b);
  Value compare_sets(const Node& n, NodeKind op, const Value& a, const Value& b);
  Value set_method(const Call& c, const Node& receiver, const Value& self, const std::string& name);

  // --- lists.cpp
  Value read_words(const Type& t, Val base, Val offset, const Value& holder, bool holds = true);
  void write_words(const Type& t, const Value& v, Val base, Val offset, bool fresh = false);
  void comprehension_loops(const Node& n, const Sequence& all, const std::function<void()>& each);
  Value comprehension(const Node& n);
  Value list_with_stars(const Node& n, const std::vector<Value>& before, size_t k,
                        const Value& more);
  void put_all(const Node& n, const Value& over, const std::function<void(const Value&)>& put);
  void put_element(const Node& n, const std::function<void(const Value&)>& put);
  Value tuple_comprehension(const Node& n, const Value& over);
  void join_items(const Node& n, std::span<Value* const> items);
  Value list_or_tuple(const Node& n, std::vector<Value> items);
  Value list_of(const Node& n, const std::vector<Value>& items);
  Value repeat_list(const Node& n, const Value& list, const Value& times);
  Value join_lists(const Node& n, const Value& a, const Value& b);
  void store_slice(const Node& n, const Node& receiver, const Value& list, const Value& by,
                   const Value& v);
  void delete_slice(const Node& n, const Value& list, const Value& by);
  void expect_own_list(const Node& n, const Node& receiver, const Value& list);
  Value empty_list(const Call& c);
  Value binary_lists(const Node& n, Op op, const Value& a, const Value& b);
  Value slice_of_list(const Node& n, const Value& list, const Value& by);
  static bool is_plain_list(const Value& v);
  static Type list_type(Type item);
  static Type boxed_type(const Value& v);
  Value boxed(const Node& n, const Value& v);
  Value to_list(const Node& n, const Value& v, const Type& item);
  Value plain(const Value& v);
  Value new_list(const Type& item, Val count, Val memory);
  void resize_list(const Value& list, Val count);
  void expect_memory(Val got);
  static bool shares_lists(const Value& v);
  static bool holds_lists(const Type& t);
  static bool holds_strings(const Type& t);
  static void share_lists(Value& v);
  Val list_length(const Value& list);
  Val list_data(const Value& list);
  Value read_item(const Value& list, Val at, bool holds = true);
  Value copied(const Node& n, const Value& v);
  Value without_lists(const Node& n, const Value& v);
  Value array_of_range(const Value& range);
  bool fits_item(const Type& own, const Type& item);
  void write_item(const Node& n, const Value& list, Val at, const Value& v);
  void widen_list(const Node& n, const Node& receiver, const Value& list, const Type& item);
  Value call_heap(const Call& c, const std::string& name);
  Value list_method(const Call& c, const Node& receiver, const Value& self,
                    const std::string& name);
  Value list_from(const Node& n, const Value& over);
  Value in_place(const Node& n, Op op, const Value& old, const Value& more);
  void expect_taken(const Node& n, const std::string& what, const Value& now, const Value& to,
                    Casting casting = Casting::SameKind);
  bool change_list(const Node& n, Op op, const Node& target, const Value& list, const Value& more);
  bool grows(const Node& target);
  void note_lists(bool& seen);
  bool becomes_list(const Node& n);
  Value as_bits(const Node& n, const Value& v, DType t);

  // --- strides.cpp
  Value view_of_size(const Node& n, const Value& given, DType t);
  Value from_buffer(const Call& c);
  Value as_strided(const Call& c);

  Value collect_list(const Node& n, const std::string& key, Val count,
                     const std::function<void(const std::function<void(const Value&)>&)>& run,
                     bool about = false);

  // --- none.cpp
  static Value none();
  Value narrowed(const std::string& name, const Value& v) const;
  Value to_maybe(const Node& at, const Value& v, const Type& t);
  Value some(const Node& n, const Value& v, const std::string& message,
             const char* exception = "TypeError");
  Value some_with_attributes(const Node& n, const Value& v, const std::string& attribute);
  void refuse_none(const Node& n, const Value& v, const std::string& what);
  Val if_there(const Value& v, const std::function<Val(const Value&)>& said);
  bool may_hold_later(const Node& call, const Call& c);
  std::optional<Value> compare_none(const Node& n, NodeKind op, const Value& a, const Value& b);
  void narrow(const Node& test, bool holds);
  void forget_renewed(const Node& loop);
  void expect_values(Call& c, const std::string& name);

  // --- expressions.cpp
  Value expression(const Node& n);
  Value maybe_none(const Node& n);
  void refuse_empty_lists(const Node& n);
  Value printed(const Node& n);
  Value constant(const Node& n);
  Value global(const Node& n);
  Type declared(const Node& n);
  Value attribute(const Node& n);
  Value attribute_of(const Node& n, const Value& v, const std::string& name);
  Value attribute_by_text(const Call& c, const std::string& name);
  Value test(const Node& n);
  Value bool_op(const Node& n, bool truths = false);
  Value compare(const Node& n);
  Value chain(const Node& n, size_t at, const Value& left);
  Value contained(const Node& n, NodeKind op, const Value& a, const Value& b);
  bool never_equal(const Node& n, const Value& a, const Value& b);
  Value negated(const Node& n, const Value& v);
  Value compare_lists(const Node& n, NodeKind op, const Value& a, const Value& b);
  Value compare_one(const Node& n, NodeKind op, const Value& a, const Value& b);
  Value if_expression(const Node& n);
  Value joined(const Node& n, const std::string& what, const std::function<Value()>& first,
               const std::function<Value()>& second, Val condition);

  // --- numbers.cpp
  // Whether Python's own numbers raise: they do not in kernels, nor where NumPy's model is asked
  // for.
  // Whether the user wrote what is compiled: library code takes lists for arrays.
  bool of_user() const { return scope_->source && scope_->source->kind == Source::User; }
  static const char* python_operator(Op op);  // its symbol; null: it has none
  static std::string what_works(Op op);
  bool raises_of_numbers() const { return u_.options.python_errors && !u_.options.kernel; }
  static bool is_beyond(const Type& t);
  [[noreturn]] void refuse_beyond();
  Value python_int(const Node& n, const Value& v, DType to = DType::I64);
  Value numpy_number(const Node& n, const Value& v, DType t);
  Value number(Val v, DType t, bool weak = false) {
    return {Type::number_of(t, weak), {v}, {}, {}, {}, false, 0};
  }
  Value integer(Val v) { return number(v, DType::I64, true); }
  Value known_integer(int64_t n);
  Value boolean(Val v) { return number(v, DType::Bool, true); }
  Value from_scalar(const Scalar& s, DType t, bool weak);
  Value operation(const Node& n, Op op, const Value& a, const Value& b);
  Value binary(const Node& n, Op op, const Value& a, const Value& b);
  void require_fits(const Node& n, Op op, const Value& python, DType t);
  Value binary_numbers(const Node& n, Op op, const Value& a, const Value& b);
  Val is_zero(Val x, DType t);
  void expect_exponents(const Node& n, const Value& base, Value& exponents);
  void expect_power_in_range(const Node& n, Val power, Val x, Val y);
  Value whole_power(const Node& n, const Value& power, Val x, Val exponent);
  Val python_quotient(Val a, Val b);
  Value python_power(const Node& n, const Value& x, const Value& exponent);
  Value compare_integers(Op op, const Value& a, const Value& b, bool weak);
  Value unary(const Node& n, Op op, const Value& a);
  Value unary_number(const Node& n, Op op, const Value& a);
  Value apply(const Node& n, Op op, std::span<const Value> args);  // numbers and arrays, broadcast
  Val as(const Value& v, DType t);                                 // a number's value in that type
  Val index_value(const Node& n, const Value& v);                  // an int64, or it is an error
  Val truth(const Node& n, const Value& v);
  Value cast(const Node& n, const Value& v, DType t, bool weak = false);
  Value choose(const Node& n, Val condition, const Value& a, const Value& b, bool promotes = false);
  Value math_function(const Node& n, const std::string& name, std::span<const Value> args);
  std::optional<Op> row_of(const std::string& name);
  UfuncKeywords ufunc_keywords(const Call& c, const std::string& name, size_t nin);
  Casting casting_argument(const Node& n, const Value& v);
  Value call_ufunc(const Call& c, Op op, const std::string& name);
  std::optional<int64_t> known_int(const Value& v);

  // --- subscripts.cpp
  Value subscript(const Node& n);
  void note_entry(const Node& dict, const Node& key, Val entry);
  std::pair<Value, Value> parts_of_subscript(const Node& n, bool& loose);
  Value receiver(const Node& n, bool passing, bool& loose);
  Value item_of_list(const Node& n, const Value& list, const Value& by, bool holds = true);
  Value array_type(const Node& n, const Value& of, const Value& by);
  Value index(const Node& n, const Value& a, const Value& by);
  Value index_tuple(const Node& n, const Value& t, const Value& by);
  void store(const Node& n, const Value& a, const Value& by, const Value& v);
  Val address(const Node& n, const Value& a, std::span<const Val> at, bool wrap, Val& base);
  Val step_of_slice(const Node& n, const Value& v);
  Val from_end(Val i, Val extent);
  bool checks_bounds() const;
  Val wrapped(const Node& n, Val i, Val extent, size_t axis, const Node* array);
  // What a subscript indexes, where it is one.
  const Node* array_node(const Node& n) {
    return n.kind == NodeKind::Subscript ? n.one(Field::value) : nullptr;
  }
  void watch(ir::Access how, DType t, Val base, Val offset, Val value, ir::Space space);
  Value view(const Node& n, const Value& a, const std::vector<Value>& by);
  void expect_axes(const Node& n, const Value& a, std::span<const Value> indices);
  Value element(const Value& a, std::span<const Val> at);
  bool writable(const Node& n, const Value& a);
  void set_element(const Node& n, const Value& a, std::span<const Val> at, const Value& v);
  Value read_at(DType t, Val base, Val offset, ir::Space space);
  void write_at(DType t, Val v, Val base, Val offset, ir::Space space);
  Value allocate(DType t, std::span<const Val> shape, Order order = Order::C);
  static Order kept_order(const Value& a);
  Order in_order(const Node& n, const std::string& name, const Value& a, const Value* order);
  Value reshape_in_order(const Call& c, const Value& a, const std::vector<Value>& shape,
                         size_t index);
  Value materialise(const Node& n, const Value& v);              // an array in memory
  void fill(const Node& n, const Value& to, const Value& from);  // broadcast
  Value fitted(const Node& n, const Value& from, size_t ndim, bool by_arrays = false);
  void each(std::span<const Val> shape, const std::function<void(std::span<const Val>)>& body,
            int64_t mark = 0);
  // Addresses: of an array's first byte, and after its last.
  std::pair<Val, Val> reach(const Value& a);
  // A view as it is, or a copy of it where what is written to shares memory with it.
  Value copied_where_shared(const Node& n, const Value& from, const Value& to);
  Value lazy(DType t, std::span<const Val> shape, std::function<Value(std::span<const Val>)> at);
  std::vector<Val> broadcast(const Node& n, std::span<const Value> args);
  // For each axis of `a` the condition under which its only element is repeated; none: never.
  void expect_no_bool(const Node& n, const Value& i);
  void expect_read(const Value& a, std::span<const Val> shape);
  std::vector<Val> repeats(const Value& a, std::span<const Val> shape);
  Value broadcast_element(const Value& a, std::span<const Val> at, size_t ndim,
                          const std::vector<Val>& repeated);
  // What repeats() says of several operands.
  struct Spread {
    Spread(Lower& l, std::span<const Value> from, std::span<const Val> shape) {
      for (const Value& a : from) {
        repeated.push_back(l.repeats(a, shape));
        for (Val one : repeated.back())
          if (one != ir::kNone) conditions.push_back(one);
        if (shape.size() == 1 && repeated.back().size() == 1 && repeated.back()[0] != ir::kNone)
          narrow.push_back(repeated.back()[0]);
      }
    }
    std::vector<std::vector<Val>> repeated;
    std::vector<Val> narrow, conditions;
  };
  void each_of(const std::vector<Val>& narrow, std::span<const Val> shape,
               const std::function<void(std::span<const Val>)>& body);
  void unless_repeated(const std::vector<Val>& conditions, const std::function<void()>& repeated,
                       const std::function<void()>& plain);
  Value transpose(const Value& a);
  Val lies_dense(const Value& a);
  std::vector<Val> dense_strides(DType t, std::span<const Val> shape, Val step = ir::kNone);
  Value dense(const Node& n, const Value& a,
              const std::function<void(const std::function<void()>&)>& instead = {});
  void view_or(const Node& n, const Value& a, std::span<const Val> extents,
               std::span<const Val> variables, const std::function<void()>& copies);
  Value as_array(const Node& n, const Value& a);
  Value ravel(const Node& n, const Value& a);
  Value reshape(const Node& n, const Value& a, const std::vector<Value>& shape);
  struct Walk;
  template <numbus::Reduction K>
  struct ReductionLanes;
  Walk walk_over(const Value& a, bool as_line = false);
  Val sums_columns(const Reduction& r, const Value& a, std::span<const size_t> axes);
  Value line_of(const Value& a, std::span<const size_t> axes, std::span<const Val> others);
  Value reduction(const Call& c, const std::string& name, const Value& a, size_t first);
  Val axis_of_run_time(const Node& n, const std::string& name, const Value& axis, size_t ndim);
  Value with_axis_moved(const Value& a, Val axis, bool back);
  Value reduce(const Node& n, const std::string& name, const Value& a);
  Value reduce(const Node& n, const Reduction& r, const Value& given);
  Value reduce_all(const Node& n, const Reduction& how, const Value& given);
  Value reduce_where(const Node& n, const Reduction& r, const Value& given, const Value& where);
  Value call_block(const Call& c);
  Value call_einsum(const Call& c);
  Value stored_result(const Node& n, const std::string& name, const Value& result,
                      const Value& out);
  Value mean_of(const Node& n, const Reduction& how, const Value& a);
  Value spread_of_complex(const Node& n, const Reduction& how, const Value& a);
  void expect_elements(const Node& n, const std::string& name, Val count);
  std::vector<size_t> reduced_axes(const Node& n, const Reduction& r, const Value& a);
  // strong: as NumPy does, for which Python's numbers count in full.
  Value from_items(const Node& n, const std::vector<Value>& items, std::optional<DType> t,
                   bool strong = false);
  Val size_of(const Value& a);
  Val new_memory(DType t, std::span<const Val> shape);

  // --- deciding.cpp
  int times_given(const std::string& name);
  void asks_for(const Value& v);
  std::vector<size_t> parameters_asked_for();
  Spec& specialise(const Call& c, int source, std::vector<Type>& types,
                   const std::vector<Value>& args);

  // --- aliasing.cpp
  Value elementwise(DType t, std::span<const Val> shape, std::span<const Value> from,
                    std::function<Value(std::span<const Val>)> at, const Spread* spread = nullptr);
  bool reads_own_indices(const Value& v, const Value& to);
  Value apart(const Node& n, const Value& v, const Value& to);

  // --- fancy.cpp
  void expect_mask(const Node& n, const Value& mask, std::span<const Val> shape, size_t first);
  Offsets offsets_of(const Node& n, const Value& a, const std::vector<Value>& given);
  void expect_indices(const Node& n, Offsets& p);
  void expect_inside(const Node& n, const Value& indices, Val extent, size_t axis);
  std::vector<Val> offset_at(const Node& n, const Offsets& p, std::span<const Val> at);
  Value gather(const Node& n, const Value& a, const std::vector<Value>& list);
  void scatter(const Node& n, const Value& a, const std::vector<Value>& list, const Value& v);

  // --- calls.cpp
  Value call(const Node& n);
  Value call_with_arguments(const Node& n);
  void call_arguments(const Node& n, Call& c, const std::string& function = {}, size_t first = 0);
  Value display(const Node& n, bool tuple);
  Value call_value(const Call& c, const Value& callee);
  void expect_parameters(const Call& c, const Source& s);
  Value call_function(const Call& c, int source);
  void name_caller(const Node& n);
  void name_own_line(const Node& n, CompileError& e) const;
  Value call_local(const Call& c, int number);
  // --- lifted.cpp
  bool calls_itself(const Node& definition);
  Value lifted_function(const Node& definition);
  void know_itself(int number);
  Value call_lifted(const Call& c, int number);
  // --- object_mode.cpp
  Value call_object_mode(const Call& c, const Type& block);
  Value call_declared(const Call& c, const Type& f);
  Value of_raising();
  bool ends_within(const std::function<void()>& part);
  Value call_inline(const Call& c, const Node& definition, const std::string& name, Scope* outer,
                    const Source* source);
  Value call_named(const Call& c, const std::string& name);
  Value method(const Call& c, const Value& self, const std::string& name);
  void take_arrays(Call& c, int library);
  void keep_defaults(const Node& definition);
  std::vector<Value> bind(const Node& at, const Node& definition, const std::string& name,
                          std::vector<Value> args,
                          const std::vector<std::pair<std::string, Value>>& keywords,
                          Scope* local = nullptr);
  void expect(const Call& c, const std::string& name, size_t least, size_t most);
  // --- numpy.cpp
  Value limit_of_clip(const Node& n, const Value& limit, std::span<const Type> all, bool upper);
  Value call_numpy(const Call& c, const std::string& name, bool& known);
  void check_keywords(const Call& c, const std::string& name);
  Value numpys_number(Value v) const;
  Value numpy_where(const Call& c, const std::string& name);
  Value numpy_clip(const Call& c, const std::string& name);
  Value numpy_round(const Call& c, const std::string& name);
  Value numpy_type(const Call& c, const std::string& name);
  Value numpy_can_cast(const Call& c, const std::string& name);
  Value numpy_info(const Call& c, const std::string& name);
  // --- creation.cpp
  Value filled(const Node& n, DType t, std::span<const Val> shape, const Value& with);
  Value filling(DType t, bool one);
  Value numpy_full(const Call& c, const std::string& name);
  Value numpy_full_like(const Call& c, const std::string& name);
  Value numpy_arange(const Call& c, const std::string& name);
  Val length_of_range(const Node& n, const Value& start, const Value& stop, const Value& step);
  void expect_room(const Node& n, const Value& v, DType t, Val asked);
  Value numpy_linspace(const Call& c, const std::string& name);
  Value numpy_eye(const Call& c, const std::string& name);
  Value numpy_array(const Call& c, const std::string& name);
  Value array_of_rows(const Node& n, const std::vector<Value>& rows, std::optional<DType> t);
  Copies copies_argument(const Node& n, const Value& copy);
  Value converted_copy(const Node& n, const Value& a, DType t, Order order = Order::C);
  // --- layouts.cpp
  Value numpy_transpose(const Call& c, const std::string& name);
  Value numpy_broadcast_to(const Call& c, const std::string& name);
  Value numpy_shape(const Call& c, const std::string& name);
  std::optional<Value> diagonal(const Call& c, const std::string& name);
  Value permuted(const Node& n, const Value& a, const std::vector<int64_t>& axes);
  [[noreturn]] void axis_not_known(const Node& n, const std::string& name, const Value& axis);
  std::optional<DType> dtype_argument(const Call& c, size_t offset_at, const std::string& name);
  std::vector<Val> shape_argument(const Node& n, const Value& v);
  Value print(const Call& c);
  static Value numpy_numbers(const std::string& name, Value v);
  Value drawn(const Call& c, const std::string& name, Value v);
  Value generator_method(const Call& c, const Value& self, const std::string& name);
  Value random(const Call& c, const std::string& what);
  Value host_call(const Call& c, const std::string& what);
  Value call_foreign(const Call& c, const std::string& text);
  Value call_external(const Call& c, const std::string& text);
  Value buffer_of(const Call& c);
  Value result_for_others(const Node& n, const Value& r);
  bool foreign_arguments(const Call& c, const std::string& name, std::istream& codes,
                         const std::function<void(const Value&)>& pass);
  Value foreign_argument(const Node& n, const std::string& name, const Value& given,
                         const std::string& code, size_t position);

  // --- strict.cpp
  Value strict(const Call& c, const std::string& what);

  // --- named_tuples.cpp
  static Type named_type(const std::string& text, int number);  // text: the class, its fields
  Value make_named(const Call& c, const Type& cls);
  Value replace_named(const Call& c, const Value& old);
  static Value plain_tuple(Value v);
  Value field_of(const Node& n, const Value& v, const std::string& name);

  // --- vectorized.cpp
  Value call_vectorized(const Call& c, const Type& f);
  Value call_generalised(const Call& c, int number);

  // --- builtins.cpp
  Value round_at_run_time(const Node& n, const Value& x, const Value& digits);
  Value call_builtin(const Call& c, const std::string& name);

  // --- cuda.cpp
  Value call_cuda(const Call& c, const std::string& name);
  Value cuda_attribute(const Node& n, const std::string& name);
  Value memory_array(const Call& c, ir::Space space);
  Value atomic(const Call& c, const std::string& name);
  Val intrinsic(ir::Intrinsic i, DType t, Val a = ir::kNone, Val b = ir::kNone, Val c = ir::kNone,
                ir::Space s = ir::Space::Global, int64_t number = 0);

  // Small steps on int64.
  Val ci(int64_t n) { return b_->constant(DType::I64, Scalar::from_int(n)); }
  std::optional<int64_t> constant_of(Val v) const;
  Val add(Val a, Val b);
  Val sub(Val a, Val b);
  Val mul(Val a, Val b);
  Val less(Val a, Val b) { return b_->emit(Op::less, DType::Bool, a, b); }
  Val both(Val a, Val b) { return b_->emit(Op::logical_and, DType::Bool, a, b); }
  Val negate(Val a) { return b_->emit(Op::logical_not, DType::Bool, a); }
  Val new_variable(DType t, Val first = ir::kNone);
  Val get(Val variable) { return b_->emit(Op::get, b_->type(variable), variable); }
  void set(Val variable, Val v) { b_->emit(Op::set, b_->type(variable), variable, v); }
  Val begin_loop(int64_t mark = 0);
  void loop_next(Val loop);
  void end_loop(Val loop);
  void break_loop(Val loop) { b_->emit(Op::break_loop, DType::I64, loop); }

  Portion* portion_ = nullptr;
};

}  // namespace numbus::frontend
