// What the class Lower knows while it emits a function, from one statement to the next.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontend/parts.h"

namespace numbus::frontend {

struct State : Parts {
  State(Unit& u, Spec& spec, const Source& source) : u_(u), spec_(spec), source_(source) {}

  Unit& u_;
  Spec& spec_;
  const Source& source_;
  ir::Function* f_ = nullptr;
  ir::Builder* b_ = nullptr;
  Scope* scope_ = nullptr;
  std::map<std::string, Type> types_;  // of variables, by scope and version
  // Of variables in registered functions: the numbers in them that are known while compiling.
  std::deque<Node> places_;  // of calls that one call of the program is made of
  std::unordered_map<std::string, std::vector<std::optional<Scalar>>> constants_;
  Type result_;
  bool changed_ = false;
  // Of this function: a list that acts as a tuple became a list as well; lists change. Where both
  // is so, names hold lists from the beginning, `boxes_lists_`, and what was found is `outdated_`.
  bool lists_copied_ = false, lists_change_ = false, boxes_lists_ = false, outdated_ = false;
  std::vector<Loop> loops_;
  Val outermost_ = ir::kNone;   // the loop around the whole body, which return leaves
  Val raising_to_ = ir::kNone;  // the loop that an error leaves
  Val return_to_ = ir::kNone;   // the loop that return leaves, of a function expanded in place, too
  std::vector<Finally> finals_;
  size_t finals_base_ = 0;      // of those, how many stand around the function expanded here
  std::vector<Val> returned_;   // variables of what is returned by way of a finally
  std::vector<Caught> caught_;  // all errors that this pass has had caught
  std::vector<int> handling_;   // of these, those whose handlers are open; -1: a finally
  std::set<int> sites_;         // of errors that this pass, or the try statement, may raise so far
  // The user's call of a function of the library that is expanded now, whose line errors name.
  struct UserCall {
    const Source* source = nullptr;
    int line = 0;
  } user_call_;
  Val status_ = ir::kNone;
  // d[k] that a statement reads and then assigns to, nothing in between: the entry, once it is
  // found.
  const Node* updated_ = nullptr;
  Val updated_entry_ = ir::kNone;
  std::vector<Val> owning_;  // variables that hold the owner of counted memory, or zero
  struct Temporary {
    Val slot, owner;  // a variable, and what it holds, if that is one value
  };
  std::vector<Temporary> temporaries_;  // to release where the statement ends
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<std::pair<const Node*, Scope*>> local_functions_;  // and what they see
  std::map<int, Scope*> lifted_;  // what local functions see that call themselves
  std::vector<Val> asked_;        // numbers that the statement would have known (deciding.cpp)
  std::unordered_map<std::string, int> times_given_;
  bool waiting_ = false;         // for the result of a function that is being made
  bool stuck_ = false;           // … of one that is made, and has none
  bool unpacks_ = false;         // the next expression is what an assignment takes apart
  bool unknown_result_ = false;  // a return of something not known yet
  bool open_result_ = false;     // … which is, or holds, a list without items so far
  bool lists_settled_ = false;   // such lists stay empty
  // A call that waits for the types of a list or a dict that it is given, of which nothing is
  // known.
  const Node* waits_for_types_ = nullptr;
  Generator* generator_ = nullptr;
  bool expands_generator_ = false;  // the next function that is expanded yields to a loop
  bool generates_ = false;          // this function yields
  Val frame_ = ir::kNone;           // of it: the address of its frame's words
  const Node* here_ = nullptr;      // what is being looked at: a statement, or a part of it
  std::unordered_set<std::string> outside_;  // variables of iterations that may hold shared lists
  int inline_depth_ = 0;
  // How many loops and branches are open, and were where the statement, or the side of an
  // expression, begins; a call that always raises ends it there.
  int nesting_ = 0, landing_ = 0;
  bool ended_ = false;
  std::vector<Val> excluded_;  // conditions of repeats() that do not hold in the loop being made
  bool borrowed_ = false;      // what names are given now is held by the caller while this runs
  std::function<void(const Node&, const Value&)> on_return_;  // of a function expanded in place
  std::map<std::string, uint64_t> origins_;                   // of arrays in variables, as types_
  uint64_t in_lists_ = 0;  // of arrays that were put into any list: lists may have several names
  uint64_t written_ = 0;   // parameters that are written to
};

}  // namespace numbus::frontend
