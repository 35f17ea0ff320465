//! How large code, templates and schemas of authors may be, and how much one run of them may use. What is larger is refused
//! before anything that calls itself reads it, or before memory is taken for it.
//!
//! Each limit is some ten times what the shipped documents need; the largest of them is named with it.

/// A file of Starlark, in bytes: `crm_assistant/tools.star` has 33 kB.
pub const MOST_CODE_BYTES: usize = 400_000;
/// An invariant or a rule of the policy, in bytes: the longest shipped one has 300.
pub const MOST_EXPRESSION_BYTES: usize = 4_000;
/// Levels of code within each other: blocks, branches of an `elif` chain, brackets, operators and calls of one expression.
/// The parser and the compiler call themselves for each. Shipped code has 20.
pub const MOST_CODE_LEVELS: usize = 200;
/// Words and signs of one function with all that is in it: what is done between two looks at time and memory. The longest
/// shipped one has 450.
pub const MOST_FUNCTION_TOKENS: usize = 5_000;
/// Function calls and loop rounds of one tool call, and of one evaluation of an invariant or a rule. Shipped tools take 2,000.
pub const MOST_STEPS: u64 = 1_000_000;
/// Function calls and loop rounds of all invariants that one change or one world is checked by: 10,000 records take some
/// 200,000.
pub const MOST_CHECK_STEPS: u64 = 10_000_000;
/// Function calls and loop rounds while a file is loaded. Shipped ones take none.
pub const MOST_LOADING_STEPS: u64 = 100_000;
/// Functions within each other's calls.
pub const MOST_CALL_LEVELS: usize = 64;
/// Values that one tool call makes, in bytes. Shipped tools make 1 MB at most.
pub const MOST_HEAP_BYTES: usize = 128 << 20;
/// Values that a file makes when it is loaded, in bytes: they are kept, and what keeps them calls itself.
pub const MOST_LOADED_BYTES: usize = 4 << 20;
/// Longest list, dict or text, in items or bytes, that one step may make.
pub const MOST_ITEMS: usize = 1_000_000;
/// An answer of a tool, and what one call puts into the world, in bytes of JSON. Shipped tools answer with up to 20 kB.
pub const MOST_ANSWER_BYTES: usize = 1 << 20;
/// The value of an expression or a function of a workflow, in bytes of JSON.
pub const MOST_VALUE_BYTES: usize = 16 << 20;
/// Lists and objects within each other in the arguments of a call: shipped tools take 3. The world may have twice as many.
pub const MOST_ARGUMENT_LEVELS: usize = 24;
/// Arguments of a call, in bytes, from which on it is the caller's failure if the tool cannot answer it: shipped tools get up to
/// 1 kB.
pub const LARGE_ARGUMENTS_BYTES: usize = 16 << 10;
/// All answers of a conversation's tools by code together, and what they put into the world: shipped ones have up to 100 kB.
/// They are held in memory while it is played.
pub const MOST_ANSWERS_BYTES: usize = 8 << 20;
/// Digits of an integer. A float has 308 before the point.
pub const MOST_DIGITS: usize = 308;

/// Tools of a playbook, its user's and its agents' among them: shipped ones have 25, imported APIs up to 1,000.
pub const MOST_PLAYBOOK_TOOLS: usize = 2_000;
/// Invariants, and rules of the policy, of a playbook: shipped ones have 15.
pub const MOST_RULES: usize = 300;
/// Variants of a playbook: shipped ones have two.
pub const MOST_VARIANTS: usize = 50;

/// A template, in bytes: the longest shipped prompt has 3 kB, and prompts with a whole handbook 40 kB.
pub const MOST_TEMPLATE_BYTES: usize = 400_000;
/// Levels of a template within each other: blocks, branches of an `elif` chain, brackets, operators and filters of one tag.
/// Shipped templates have 12.
pub const MOST_TEMPLATE_LEVELS: usize = 150;
/// Words and signs of one tag, `{{ }}` or `{% %}`: the longest shipped one has 70.
pub const MOST_TAG_TOKENS: usize = 700;
/// A text between two tags of a loop whose text is kept as a value, in bytes: shipped ones have up to 30.
pub const MOST_REPEATED_TEXT: usize = 1_000;
/// Steps of one rendering: shipped templates take up to 20,000.
pub const MOST_FUEL: u64 = 500_000;
/// What one rendering writes, and each value that it joins, keeps or puts through a filter, in bytes: the longest prompts
/// have 100 kB.
pub const MOST_RENDERED_BYTES: usize = 1 << 20;
/// Bytes that all filters and operators of one rendering go through: with the longest prompts 2 MB.
pub const MOST_RENDERING_WORK: usize = 64 << 20;
/// Lists and objects of a value within each other. Values of a world have 48 at most.
pub const MOST_TEMPLATE_VALUE_LEVELS: usize = 64;
/// Templates and macros within each other, an include counted as ten and a macro as four: shipped ones have 10.
pub const MOST_RENDERING_LEVELS: usize = 100;

/// A JSON Schema as JSON, in bytes: the longest shipped one has 12 kB.
pub const MOST_SCHEMA_BYTES: usize = 200_000;
/// Objects and lists of a JSON Schema within each other. Shipped ones have 12.
pub const MOST_SCHEMA_LEVELS: usize = 64;
/// Schemas that are looked at for one value, counted as if each `$ref`, `anyOf`, `oneOf` and `allOf` were written out.
/// Shipped schemas have 300.
pub const MOST_SCHEMA_PARTS: u64 = 10_000;
/// A regular expression, in bytes: `pattern` of shipped schemas has 60.
pub const MOST_PATTERN_BYTES: usize = 1_000;
