//! Texts with places for values: `"%s owes %.2f" % (name, sum)` and `"{} owes {:.2f}".format(name, sum)`.

use std::iter::Peekable;
use std::str::Chars;

use starlark::collections::SmallMap;
use starlark::values::float::UnpackFloat;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, UnpackValue, Value};

use super::numbers::Layout;
use super::text::{Text, repr_of, str_of};

/// Widest that a value may be made, and most digits of a number.
const WIDEST: usize = 1000;

/// `format % value`
///
/// # Errors
/// What does not fit together.
pub fn percent<'v>(format: &str, value: Value<'v>, heap: Heap<'v>) -> Result<String, String> {
    let mut values = match TupleRef::from_value(value) {
        Some(tuple) => tuple.content().to_vec(),
        None => vec![value],
    }
    .into_iter();
    let (mut text, mut chars, mut named) = (Text::new(heap), format.chars().peekable(), false);
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c.encode_utf8(&mut [0; 4]))?;
        } else if chars.next_if_eq(&'%').is_some() {
            text.push("%")?;
        } else {
            let place = Place::parse(&mut chars, format, &mut values)?;
            let value = match &place.name {
                Some(name) => {
                    named = true;
                    value.at(heap.alloc(name.as_str()), heap).map_err(|e| e.without_diagnostic().to_string())?
                }
                None => values.next().ok_or_else(|| format!("`{format}` has more places than values"))?,
            };
            place.write(value, &mut text, heap)?;
        }
    }
    if values.next().is_some() && !named {
        return Err(format!("`{format}` has fewer places than values; `%` in a text is written `%%`"));
    }
    Ok(text.into_string())
}

/// What stands between `%` and its letter.
struct Place {
    name: Option<String>,
    layout: Layout,
    letter: char,
}

impl Place {
    /// `values`: where a `*` takes a width or a number of digits from.
    fn parse<'v>(
        chars: &mut Peekable<Chars<'_>>,
        format: &str,
        values: &mut impl Iterator<Item = Value<'v>>,
    ) -> Result<Self, String> {
        let unfinished = || format!("`{format}` ends within a place; `%` in a text is written `%%`");
        let mut name = None;
        if chars.next_if_eq(&'(').is_some() {
            name = Some(chars.by_ref().take_while(|c| *c != ')').collect());
        }
        let mut layout = Layout::default();
        let mut zeros = false;
        while let Some(flag) = chars.next_if(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => layout.align = Some('<'),
                '0' => zeros = true,
                '#' => layout.alternate = true,
                // `+` wins over a space.
                sign => layout.sign = layout.sign.filter(|sign| *sign == '+').or(Some(sign)),
            }
        }
        if chars.next_if_eq(&'*').is_some() {
            let width = starred(values, format)?;
            // As if there was a `-` before it.
            layout.align = if width < 0 { Some('<') } else { layout.align };
            layout.width = within_widest(width.unsigned_abs())?;
        } else {
            layout.width = digits(chars)?.unwrap_or(0);
        }
        if chars.next_if_eq(&'.').is_some() {
            layout.precision = Some(if chars.next_if_eq(&'*').is_some() {
                within_widest(starred(values, format)?.max(0).unsigned_abs())?
            } else {
                digits(chars)?.unwrap_or(0)
            });
        }
        if zeros && layout.align.is_none() {
            (layout.fill, layout.align) = (Some('0'), Some('='));
        }
        Ok(Self { name, layout, letter: chars.next().ok_or_else(unfinished)? })
    }

    fn write<'v>(&self, value: Value<'v>, text: &mut Text<'v>, heap: Heap<'v>) -> Result<(), String> {
        let (layout, letter) = (&self.layout, self.letter);
        let text_layout =
            || Layout { align: layout.align.filter(|align| *align == '<').or(Some('>')), fill: None, ..*layout };
        match letter {
            's' if *layout == Layout::default() => text.str(value),
            's' => text.push(&text_layout().text(&str_of(value, heap)?)),
            'r' => text.push(&text_layout().text(&repr_of(value, heap)?)),
            'c' => text.push(&Layout { precision: None, ..text_layout() }.text(&character(value)?)),
            'd' | 'i' | 'u' => text.push(&integer(number(value, heap), layout, 'd')?),
            'x' | 'X' | 'o' => text.push(&integer(number(value, heap), layout, letter)?),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => text.push(&layout.float(float(number(value, heap), letter)?, letter)),
            other => {
                Err(format!("`%{other}` is not known; `%s`, `%r`, `%c`, `%d`, `%f`, `%e`, `%g`, `%x` and `%o` are"))
            }
        }
    }
}

fn digits(chars: &mut Peekable<Chars<'_>>) -> Result<Option<usize>, String> {
    let mut found: Option<usize> = None;
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        let digit = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
        found = Some(within_widest(found.unwrap_or(0) * 10 + digit)?);
    }
    Ok(found)
}

fn within_widest<N: TryInto<usize>>(width: N) -> Result<usize, String> {
    let width = width.try_into().ok().filter(|width| *width <= WIDEST);
    width.ok_or_else(|| format!("a width or a number of digits is at most {WIDEST}"))
}

/// The value that stands for a `*`.
fn starred<'v>(values: &mut impl Iterator<Item = Value<'v>>, format: &str) -> Result<i32, String> {
    let value = values.next().ok_or_else(|| format!("`{format}` has more places than values"))?;
    let needs = || format!("`*` in `{format}` needs a whole number and was given a {}", value.get_type());
    value.unpack_i32().ok_or_else(needs)
}

/// A bool as the number that it is in Python, and anything else as it is.
fn number<'v>(value: Value<'v>, heap: Heap<'v>) -> Value<'v> {
    value.unpack_bool().map_or(value, |is_true| heap.alloc(i32::from(is_true)))
}

/// A character, given as itself or as its code.
fn character(value: Value<'_>) -> Result<String, String> {
    let code = value.unpack_i32().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
    let own = value.unpack_str().filter(|text| text.chars().count() == 1);
    let text = code.map(String::from).or_else(|| own.map(str::to_owned));
    text.ok_or_else(|| format!("`c` needs one character or its code, and was given a {}", value.get_type()))
}

fn float(value: Value<'_>, letter: char) -> Result<f64, String> {
    let number = matches!(value.get_type(), "int" | "float").then(|| UnpackFloat::unpack_value_opt(value)).flatten();
    number.map(|float| float.0).ok_or_else(|| format!("`{letter}` needs a number and was given a {}", value.get_type()))
}

/// Integers, and floats without what comes after the point.
fn integer(value: Value<'_>, layout: &Layout, letter: char) -> Result<String, String> {
    let decimal = match value.get_type() {
        "int" => value.to_repr(),
        "float" if letter == 'd' => {
            let whole = float(value, letter)?.trunc();
            if !whole.is_finite() {
                return Err(format!("`{letter}` needs a number and was given {}", super::numbers::repr(whole)));
            }
            format!("{:.0}", whole + 0.0)
        }
        other => return Err(format!("`{letter}` needs a whole number and was given a {other}")),
    };
    layout.integer(&decimal, letter).ok_or_else(|| format!("`{letter}` writes numbers of 128 bits at most"))
}

/// `format.format(*placed, **named)`
///
/// # Errors
/// What does not fit together.
pub fn format<'v>(
    format: &str,
    placed: &[Value<'v>],
    named: &SmallMap<String, Value<'v>>,
    heap: Heap<'v>,
) -> Result<String, String> {
    let (mut text, mut chars, mut next) = (Text::new(heap), format.chars().peekable(), 0);
    while let Some(c) = chars.next() {
        match c {
            '{' if chars.next_if_eq(&'{').is_some() => text.push("{")?,
            '}' if chars.next_if_eq(&'}').is_some() => text.push("}")?,
            '{' => {
                let field: String = chars.by_ref().take_while(|c| *c != '}').collect();
                let (field, layout) = field.split_once(':').unwrap_or((&field, ""));
                let (name, conversion) = field.split_once('!').unwrap_or((field, ""));
                let value = match (name.parse::<usize>(), name) {
                    (_, "") => {
                        next += 1;
                        placed.get(next - 1)
                    }
                    (Ok(place), _) => placed.get(place),
                    (Err(_), name) => named.get(name),
                };
                let value = *value.ok_or_else(|| format!("`{format}` has no value for `{{{name}}}`"))?;
                field_text(value, conversion, layout, &mut text, heap)?;
            }
            '}' => return Err(format!("`{format}` has a single `}}`; in a text it is written `}}}}`")),
            c => text.push(c.encode_utf8(&mut [0; 4]))?,
        }
    }
    Ok(text.into_string())
}

fn field_text<'v>(
    value: Value<'v>,
    conversion: &str,
    layout: &str,
    text: &mut Text<'v>,
    heap: Heap<'v>,
) -> Result<(), String> {
    match (conversion, layout) {
        ("" | "s", "") => return text.str(value),
        ("r", "") => return text.repr(value),
        ("" | "s" | "r", _) => {}
        (other, _) => return Err(format!("`!{other}` is not known; `!s` and `!r` are")),
    }
    let (layout, letter) = layout_of(layout)?;
    let value = if conversion.is_empty() && letter != Some('s') { number(value, heap) } else { value };
    let is_number = conversion.is_empty() && matches!(value.get_type(), "int" | "float");
    let writes_integer = matches!(letter, None | Some('d' | 'x' | 'X' | 'o' | 'b')) && value.get_type() == "int";
    if let (true, Some(digits)) = (is_number && writes_integer, layout.precision) {
        return Err(format!("decimals need a letter: `:.{digits}f`"));
    }
    text.push(&match letter {
        Some(letter @ ('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%')) => layout.float(float(value, letter)?, letter),
        Some(letter @ ('d' | 'x' | 'X' | 'o' | 'b')) if value.get_type() != "float" => integer(value, &layout, letter)?,
        None if is_number && value.get_type() == "int" => integer(value, &layout, 'd')?,
        None if is_number => layout.float_without_letter(float(value, 'f')?),
        None | Some('s') if conversion == "r" => layout.text(&repr_of(value, heap)?),
        None | Some('s') => layout.text(&str_of(value, heap)?),
        Some(letter) => return Err(format!("`{letter}` does not write a {}", value.get_type())),
    })
}

/// What stands after the colon: `[[fill]align][sign][#][0][width][,][.digits][letter]`.
fn layout_of(text: &str) -> Result<(Layout, Option<char>), String> {
    let mut layout = Layout::default();
    let is_align = |c: &char| "<>^=".contains(*c);
    let start: Vec<char> = text.chars().take(2).collect();
    let mut chars = text.chars().peekable();
    if start.get(1).is_some_and(is_align) {
        layout.fill = chars.next();
    }
    layout.align = chars.next_if(is_align);
    layout.sign = chars.next_if(|c| "+- ".contains(*c)).filter(|sign| *sign != '-');
    layout.alternate = chars.next_if_eq(&'#').is_some();
    if chars.next_if_eq(&'0').is_some() {
        (layout.fill, layout.align) = (layout.fill.or(Some('0')), layout.align.or(Some('=')));
    }
    layout.width = digits(&mut chars)?.unwrap_or(0);
    layout.grouping = chars.next_if(|c| matches!(c, ',' | '_'));
    if chars.next_if_eq(&'.').is_some() {
        layout.precision = digits(&mut chars)?;
    }
    let letter = chars.next();
    match chars.next() {
        Some(_) => Err(format!("`:{text}` is no layout such as `:.2f`, `:>10` or `:,`")),
        None => Ok((layout, letter)),
    }
}
