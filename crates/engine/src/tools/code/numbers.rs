//! Numbers as text, as Python writes them: what agents and people read must be the number itself, not six digits of it.

/// The shortest text that reads back as the same number, as Python's `repr`: an exponent only below 1e-4 and from 1e16 on.
pub fn repr(x: f64) -> String {
    if !x.is_finite() {
        return not_finite(x).to_owned();
    }
    if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) {
        return with_exponent(&format!("{x:e}"), 'e');
    }
    if x.fract() == 0.0 { format!("{x:.1}") } else { x.to_string() }
}

/// A float without decimals as an integer, if 64 bits hold it.
pub fn whole(x: f64) -> Option<i64> {
    if x.fract() == 0.0 { format!("{x:.0}").parse().ok() } else { None }
}

const fn not_finite(x: f64) -> &'static str {
    match (x.is_nan(), x.is_sign_negative()) {
        (true, _) => "nan",
        (false, true) => "-inf",
        (false, false) => "inf",
    }
}

/// `1.2e7` as Python has it, with a sign and two digits at least: `1.2e+07`.
fn with_exponent(text: &str, letter: char) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}{letter}{sign}{digits:0>2}")
}

/// How a number is to be written: what stands between `%` and its letter, or after the colon in `{:.2f}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    pub fill: Option<char>,
    /// `<`, `>`, `^`, or `=`: the fill goes between sign and digits.
    pub align: Option<char>,
    /// `+` or a space, for what is not negative.
    pub sign: Option<char>,
    /// `#`: `0x` before hexadecimal digits, and no zeros dropped.
    pub alternate: bool,
    pub width: usize,
    pub precision: Option<usize>,
    /// `,` or `_` between groups of digits: of three, or of four where they are no decimal ones.
    pub grouping: Option<char>,
}

impl Layout {
    /// A float by a letter: `e`, `f`, `g` or `%`, and their capitals.
    pub fn float(&self, x: f64, letter: char) -> String {
        let digits = self.precision.unwrap_or(6);
        let abs = x.abs();
        let text = match letter.to_ascii_lowercase() {
            _ if !x.is_finite() => not_finite(abs).to_owned(),
            'e' => with_exponent(&format!("{abs:.digits$e}"), 'e'),
            'f' => format!("{abs:.digits$}"),
            '%' => format!("{:.digits$}%", abs * 100.0),
            _ => general(abs, digits.max(1), self.alternate, false),
        };
        let text = if letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
        self.number(x.is_sign_negative() && !x.is_nan(), "", &text, 3)
    }

    /// A float without a letter: as `repr` has it, or with so many significant digits, of which one at least is a decimal.
    pub fn float_without_letter(&self, x: f64) -> String {
        let text = match self.precision {
            Some(digits) if x.is_finite() => general(x.abs(), digits.max(1), self.alternate, true),
            _ => repr(x.abs()),
        };
        self.number(x.is_sign_negative() && !x.is_nan(), "", &text, 3)
    }

    /// An integer from its decimal text by a letter: `d`, `x`, `o` or `b`, and `X`. `None` if it is too large for others
    /// than `d`.
    pub fn integer(&self, decimal: &str, letter: char) -> Option<String> {
        let (negative, digits) = decimal.strip_prefix('-').map_or((false, decimal), |digits| (true, digits));
        let base = |text: fn(u128) -> String| digits.parse().ok().map(text);
        let (prefix, digits) = match letter {
            'x' => ("0x", base(|n| format!("{n:x}"))?),
            'X' => ("0X", base(|n| format!("{n:X}"))?),
            'o' => ("0o", base(|n| format!("{n:o}"))?),
            'b' => ("0b", base(|n| format!("{n:b}"))?),
            _ => ("", digits.to_owned()),
        };
        let (least, group) = (self.precision.unwrap_or(0), if prefix.is_empty() { 3 } else { 4 });
        Some(self.number(negative, if self.alternate { prefix } else { "" }, &format!("{digits:0>least$}"), group))
    }

    /// A text in its width.
    pub fn text(&self, text: &str) -> String {
        let cut: String = text.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
        // A text has no sign that zeros could follow.
        let align = self.align.filter(|align| *align != '=');
        Self { align, ..*self }.pad("", &cut, '<')
    }

    /// `group`: how many digits there are between two marks.
    fn number(&self, negative: bool, prefix: &str, digits: &str, group: usize) -> String {
        let sign = if negative { Some('-') } else { self.sign };
        let sign: String = sign.into_iter().collect::<String>() + prefix;
        // Zeros before the number are grouped with it.
        let is_zero_padded = self.fill == Some('0') && self.align == Some('=');
        let least = if is_zero_padded { self.width.saturating_sub(sign.chars().count()) } else { 0 };
        let digits = self.grouping.map_or_else(|| digits.to_owned(), |mark| grouped(digits, group, mark, least));
        self.pad(&sign, &digits, '>')
    }

    fn pad(&self, sign: &str, text: &str, usual: char) -> String {
        let missing = self.width.saturating_sub(sign.chars().count() + text.chars().count());
        let fill = |n: usize| self.fill.unwrap_or(' ').to_string().repeat(n);
        match self.align.unwrap_or(usual) {
            '<' => format!("{sign}{text}{}", fill(missing)),
            '^' => format!("{}{sign}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
            '=' => format!("{sign}{}{text}", fill(missing)),
            _ => format!("{}{sign}{text}", fill(missing)),
        }
    }
}

/// So many significant digits, without the zeros at the end; with an exponent where the number is very small or has more
/// digits before the point. `with_decimal`: one decimal is written at least, also if it is 0, and counts as a digit.
fn general(abs: f64, digits: usize, keep_zeros: bool, with_decimal: bool) -> String {
    let rounded = format!("{abs:.*e}", digits - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let places = i32::try_from(digits).unwrap_or(i32::MAX).saturating_sub(1).saturating_sub(exponent);
    let fixed = exponent >= -4 && places >= i32::from(with_decimal);
    let text = if fixed { format!("{abs:.*}", usize::try_from(places).unwrap_or(0)) } else { rounded };
    let (number, exponent) = text.split_once('e').unwrap_or((&text, ""));
    let number =
        if keep_zeros || !number.contains('.') { number } else { number.trim_end_matches('0').trim_end_matches('.') };
    match fixed {
        true if with_decimal && !number.contains('.') => format!("{number}.0"),
        true => number.to_owned(),
        false => with_exponent(&format!("{number}e{exponent}"), 'e'),
    }
}

/// `1234567.5` as `1,234,567.5`, with zeros before it up to a width.
fn grouped(digits: &str, group: usize, mark: char, width: usize) -> String {
    let is_digit = |c: char| if group == 3 { c.is_ascii_digit() } else { c.is_ascii_hexdigit() };
    let end = digits.find(|c: char| !is_digit(c)).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(end);
    let mut count = whole.len();
    // So many digits have a mark between each two groups.
    while count > 0 && count + (count - 1) / group < width.saturating_sub(rest.len()) {
        count += 1;
    }
    let whole = format!("{whole:0>count$}");
    let mut out = String::with_capacity(digits.len() + whole.len() / group);
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(group) {
            out.push(mark);
        }
        out.push(c);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What Python 3 says.
    #[test]
    fn numbers_read_as_in_python() {
        let cases = [
            (9_999_999.99, "9999999.99"),
            (1_200_000.0, "1200000.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.0001, "0.0001"),
            (0.000_012_3, "1.23e-05"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (-2.5e-300, "-2.5e-300"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (-0.0, "-0.0"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (x, text) in cases {
            assert_eq!(repr(x), text);
        }
    }

    #[test]
    fn layouts_are_those_of_printf() {
        let plain = Layout::default();
        let digits = |precision| Layout { precision: Some(precision), ..plain };
        assert_eq!(digits(2).float(2.675, 'f'), "2.67");
        assert_eq!(digits(0).float(2.5, 'f'), "2");
        assert_eq!(digits(3).float(1234.5678, 'e'), "1.235e+03");
        assert_eq!(plain.float(1_200_000.0, 'g'), "1.2e+06");
        assert_eq!(plain.float(999_999.5, 'g'), "1e+06");
        assert_eq!(plain.float(0.0001, 'G'), "0.0001");
        assert_eq!(digits(1).float(0.256, '%'), "25.6%");
        assert_eq!(Layout { fill: Some('0'), align: Some('='), width: 8, ..digits(2) }.float(-3.125, 'f'), "-0003.12");
        assert_eq!(Layout { grouping: Some(','), ..digits(2) }.float(1_234_567.891, 'f'), "1,234,567.89");
        assert_eq!(Layout { sign: Some('+'), width: 6, ..plain }.integer("42", 'd').as_deref(), Some("   +42"));
        assert_eq!(Layout { alternate: true, ..plain }.integer("-255", 'x').as_deref(), Some("-0xff"));
        assert_eq!(Layout { width: 7, align: Some('^'), fill: Some('*'), ..plain }.text("abc"), "**abc**");
    }

    /// What Python 3 says of `format(x, ...)`.
    #[test]
    fn digits_without_a_letter_keep_a_decimal() {
        let digits = |precision| Layout { precision: Some(precision), ..Layout::default() };
        for (x, precision, text) in [
            (3.0, 2, "3.0"),
            (0.0, 2, "0.0"),
            (-0.5, 2, "-0.5"),
            (3.0, 1, "3e+00"),
            (12.0, 2, "1.2e+01"),
            (12.0, 3, "12.0"),
            (9.96, 2, "1e+01"),
            (3.15159, 3, "3.15"),
            (1_200_000.0, 9, "1200000.0"),
            (0.000_012_34, 2, "1.2e-05"),
            (f64::INFINITY, 2, "inf"),
        ] {
            assert_eq!(digits(precision).float_without_letter(x), text, "{x} {precision}");
        }
        assert_eq!(Layout { alternate: true, ..digits(3) }.float_without_letter(3.0), "3.00");
        assert_eq!(Layout::default().float_without_letter(-2.0), "-2.0");
    }

    #[test]
    fn zeros_before_a_number_are_grouped_with_it() {
        let zeros =
            |width| Layout { fill: Some('0'), align: Some('='), grouping: Some(','), width, ..Layout::default() };
        let float = |width, x| Layout { precision: Some(2), ..zeros(width) }.float(x, 'f');
        assert_eq!(float(12, 1234.5), "0,001,234.50");
        assert_eq!(float(12, -1234.5), "-0,001,234.50");
        assert_eq!(float(5, 1_234_567.5), "1,234,567.50");
        assert_eq!(float(8, f64::INFINITY), "00000inf");
        // A mark is never the first: there is a zero more.
        assert_eq!(zeros(8).integer("123456", 'd').as_deref(), Some("0,123,456"));
        assert_eq!(zeros(9).integer("1234567", 'd').as_deref(), Some("1,234,567"));
        assert_eq!(
            Layout { fill: Some('0'), align: Some('>'), ..zeros(8) }.integer("1234", 'd').as_deref(),
            Some("0001,234")
        );
    }

    /// What Python 3 says.
    #[test]
    fn digits_that_are_not_decimal_are_grouped_by_four() {
        let marked = Layout { grouping: Some('_'), ..Layout::default() };
        assert_eq!(marked.integer("2882400018", 'x').as_deref(), Some("abcd_ef12"));
        assert_eq!(marked.integer("-2882400018", 'X').as_deref(), Some("-ABCD_EF12"));
        assert_eq!(marked.integer("255", 'b').as_deref(), Some("1111_1111"));
        assert_eq!(marked.integer("4095", 'o').as_deref(), Some("7777"));
        assert_eq!(marked.integer("4096", 'o').as_deref(), Some("1_0000"));
        assert_eq!(marked.integer("1234567", 'd').as_deref(), Some("1_234_567"));
        assert_eq!(Layout { alternate: true, ..marked }.integer("65536", 'x').as_deref(), Some("0x1_0000"));
        let zeros = Layout { fill: Some('0'), align: Some('='), width: 12, ..marked };
        assert_eq!(zeros.integer("2882400018", 'x').as_deref(), Some("00_abcd_ef12"));
        assert_eq!(zeros.text("ab"), "ab0000000000");
    }

    #[test]
    fn whole_numbers_of_64_bits_are_integers() {
        for (x, integer) in [
            (5.0, Some(5)),
            (-0.0, Some(0)),
            (1.5, None),
            (9e18, Some(9_000_000_000_000_000_000)),
            (1e19, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(whole(x), integer, "{x}");
        }
    }

    proptest! {
        #[test]
        fn the_text_is_the_number(bits in any::<u64>()) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            let text = repr(x);
            prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(bits), "{}", text);
            let exponent = x != 0.0 && !(1e-4..1e16).contains(&x.abs());
            prop_assert_eq!(text.contains('e'), exponent, "{}", text);
            prop_assert!(exponent || text.contains('.'), "{}", text);
        }
    }
}
