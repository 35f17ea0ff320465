//! Texts that somebody else wrote. They are shown on terminals, read by models and stand in templates, and may do
//! nothing there but be read.

/// Longest description, in letters: what OpenAI takes.
const LONGEST: usize = 1024;
/// Longest text of one line.
const LONGEST_LINE: usize = 160;

/// Lines of letters: no control characters, nothing invisible or that turns the direction of writing.
pub fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}', '\u{85}'], "\n").replace('\t', " ");
    let shown: String = text.chars().filter(|c| *c == '\n' || !(c.is_control() || invisible(*c))).collect();
    let trimmed: Vec<&str> = shown.lines().map(str::trim_end).collect();
    cut(trimmed.join("\n").trim(), LONGEST)
}

/// The same in one line.
pub fn line(text: &str) -> String {
    let lines = lines(text);
    cut(&lines.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_LINE)
}

/// "1 tool", "2 tools".
pub fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Zero-width letters, marks of direction, and tags that spell out letters nobody sees.
fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// At most so many letters, with dots in place of the rest.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some(_) => text.chars().take(longest - 3).collect::<String>().trim_end().to_owned() + "...",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_are_left() {
        assert_eq!(lines(" one\r\n\r\ntwo \tx \n"), "one\n\ntwo  x");
        assert_eq!(lines("a\u{1b}[31mb\u{0}\u{7}\u{202e}c\u{200b}\u{e0041}d"), "a[31mbcd");
        assert_eq!(line("a\n b\u{2028}c"), "a b c");
        assert_eq!(lines(&"ä".repeat(2000)).chars().count(), LONGEST);
    }
}
