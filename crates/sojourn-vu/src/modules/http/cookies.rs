//! The header `Cookie` as Go writes it, which leaves out what a cookie may not have in it.

/// `name=value`.
pub(super) fn pair(name: &str, value: &str) -> String {
    let name = name.replace(['\r', '\n'], "-");
    let value: String = value.chars().filter(|letter| fits(*letter)).collect();
    if value.contains([' ', ',']) {
        format!("{name}=\"{value}\"")
    } else {
        format!("{name}={value}")
    }
}

/// What may be in a value: visible ASCII and spaces, without what ends a value or quotes it.
fn fits(letter: char) -> bool {
    (' '..='~').contains(&letter) && !['"', ';', '\\'].contains(&letter)
}

/// A value as it was before it was quoted.
pub(super) fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_cookie_early() {
        assert_eq!(pair("a", "x;y\"z\\é\n"), "a=xyz");
        assert_eq!(pair("a\r\nb", "x"), "a--b=x");
        assert_eq!(pair("a", "x y"), "a=\"x y\"");
        assert_eq!(unquoted("\"x y\""), "x y");
        assert_eq!(unquoted("x"), "x");
    }
}
