//! Parts of a JSON value by a path, in the syntax of GJSON, which its page SYNTAX describes.
//!
//! Keys and indices with dots between; `\` takes a letter as it is; `*` and `?` in a key match as
//! in file names, and the first match counts. `#` is an array's length at the end of a path, and
//! elsewhere the rest of the path for each element; `#(…)` is the first element that a query holds
//! for, `#(…)#` all of them. `|` stands for a dot, but applies to an array as a whole. `@name:arg`
//! modifies, `{a,b}` and `[a,b]` gather, `!1` is a value of the path's own.

mod modifiers;
mod query;
mod scan;

use serde_json::{Map, Value as Json};

use self::scan::Key;

/// How deep paths may be nested within each other.
const DEPTH_MAX: u32 = 64;

/// The part that the path leads to, if there is one.
pub(super) fn find(value: &Json, path: &str) -> Option<Json> {
    match path.strip_prefix("..") {
        // The text as lines of JSON, of which there is one.
        Some(rest) => get(&Json::Array(vec![value.clone()]), rest, 0),
        None => get(value, path, 0),
    }
}

fn get(value: &Json, path: &str, depth: u32) -> Option<Json> {
    if depth > DEPTH_MAX {
        return None;
    }
    match path.chars().next()? {
        '@' if modifiers::is_known(path) => {
            let (name, argument, rest) = scan::modifier(path);
            follow(&modifiers::apply(name, argument, value, depth)?, rest, depth)
        }
        '!' => {
            let (text, rest) = path[1..].split_at(scan::literal(&path[1..]));
            follow(&serde_json::from_str(text).ok()?, rest, depth)
        }
        '[' | '{' => {
            let (inner, rest) = scan::bracketed(path)?;
            follow(&gathered(value, inner, path.starts_with('{'), depth), rest, depth)
        }
        '#' if value.is_array() => of_elements(value.as_array()?, &path[1..], depth),
        _ => {
            let (key, rest) = scan::key(path);
            follow(member(value, &key)?, rest, depth)
        }
    }
}

/// Goes on with what follows a part: nothing, or a separator and a path.
fn follow(value: &Json, rest: &str, depth: u32) -> Option<Json> {
    match rest.get(1..) {
        None => Some(value.clone()),
        Some(path) => get(value, path, depth + 1),
    }
}

fn member<'v>(value: &'v Json, key: &Key) -> Option<&'v Json> {
    let found = match value {
        Json::Array(items) => items.get(key.text.parse::<usize>().ok()?)?,
        Json::Object(members) if key.has_wildcards() => {
            members.iter().find(|(name, _)| key.matches(name))?.1
        }
        Json::Object(members) => members.get(&key.text)?,
        _ => return None,
    };
    Some(found)
}

/// What `#…` means for an array; `path` is what follows the sign.
fn of_elements(items: &[Json], path: &str, depth: u32) -> Option<Json> {
    if !path.starts_with(['(', '[']) {
        return match path.starts_with('.') {
            true => each(items.iter(), path, depth),
            false => follow(&items.len().into(), path, depth),
        };
    }
    let (query, rest) = scan::bracketed(path)?;
    let holds = |item: &&Json| query::holds(item, query, depth);
    match rest.strip_prefix('#') {
        None => follow(items.iter().find(holds)?, rest, depth),
        Some(rest) if rest.starts_with('.') => each(items.iter().filter(holds), rest, depth),
        Some(rest) => follow(&items.iter().filter(holds).cloned().collect(), rest, depth),
    }
}

/// The path, up to the next pipe, for each element; what follows for the list of what is found.
fn each<'v>(items: impl Iterator<Item = &'v Json>, path: &str, depth: u32) -> Option<Json> {
    let (inner, rest) = path.split_at(scan::pipe(path));
    let found: Json = items.filter_map(|item| follow(item, inner, depth)).collect();
    follow(&found, rest, depth)
}

/// What `{a,"b":c.d}` or `[a,b]` gathers; `inner` is what stands between the brackets.
fn gathered(value: &Json, inner: &str, is_object: bool, depth: u32) -> Json {
    let parts = scan::list(inner);
    if !is_object {
        return parts.iter().filter_map(|part| get(value, part, depth + 1)).collect();
    }
    let mut object = Map::new();
    for part in parts {
        let (name, path) = scan::named(part);
        if let Some(found) = get(value, path, depth + 1) {
            // The first of a name counts.
            object.entry(name).or_insert(found);
        }
    }
    Json::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document of GJSON's page.
    fn document() -> Json {
        serde_json::json!({
            "name": { "first": "Tom", "last": "Anderson" },
            "age": 37,
            "children": ["Sara", "Alex", "Jack"],
            "fav.movie": "Deer Hunter",
            "friends": [
                { "first": "Dale", "last": "Murphy", "age": 44, "nets": ["ig", "fb", "tw"] },
                { "first": "Roger", "last": "Craig", "age": 68, "nets": ["fb", "tw"] },
                { "first": "Jane", "last": "Murphy", "age": 47, "nets": ["ig", "tw"] },
            ],
        })
    }

    fn check(path: &str, expected: &str) {
        let found = find(&document(), path).map_or_else(|| "none".to_owned(), |it| it.to_string());
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn the_examples_of_the_page() {
        for (path, expected) in [
            ("name.last", r#""Anderson""#),
            ("name.first", r#""Tom""#),
            ("age", "37"),
            ("children.0", r#""Sara""#),
            ("children.1", r#""Alex""#),
            ("friends.1.first", r#""Roger""#),
            ("child*.2", r#""Jack""#),
            ("c?ildren.0", r#""Sara""#),
            (r"fav\.movie", r#""Deer Hunter""#),
            ("friends.#", "3"),
            ("friends.#.age", "[44,68,47]"),
            (r#"friends.#(last=="Murphy").first"#, r#""Dale""#),
            (r#"friends.#(last=="Murphy")#.first"#, r#"["Dale","Jane"]"#),
            ("friends.#(age>45)#.last", r#"["Craig","Murphy"]"#),
            (r#"friends.#(first%"D*").last"#, r#""Murphy""#),
            (r#"friends.#(first!%"D*").last"#, r#""Craig""#),
            (r#"children.#(!%"*a*")"#, r#""Alex""#),
            (r#"children.#(%"*a*")#"#, r#"["Sara","Jack"]"#),
            (r#"friends.#(nets.#(=="fb"))#.first"#, r#"["Dale","Roger"]"#),
            (r#"friends.#(last="Murphy")#|first"#, "none"),
            (r#"friends.#(last="Murphy")#.0"#, "[]"),
            (r#"friends.#(last="Murphy")#|0.first"#, r#""Dale""#),
            (r#"friends.#(last="Murphy")#.#"#, "[]"),
            (r#"friends.#(last="Murphy")#|#"#, "2"),
            ("children|@reverse", r#"["Jack","Alex","Sara"]"#),
            ("children|@reverse|0", r#""Jack""#),
            ("children.@reverse.0", r#""Jack""#),
            (
                "{name.first,age,\"the_murphys\":friends.#(last=\"Murphy\")#.first}",
                r#"{"first":"Tom","age":37,"the_murphys":["Dale","Jane"]}"#,
            ),
            (
                r#"{name.first,age,"company":!"Happysoft","employed":!true}"#,
                r#"{"first":"Tom","age":37,"company":"Happysoft","employed":true}"#,
            ),
            ("friends.#.[first,age]|1", r#"["Roger",68]"#),
            ("name.{first}.first", r#""Tom""#),
        ] {
            check(path, expected);
        }
    }

    #[test]
    fn modifiers() {
        for (path, expected) in [
            ("name|@reverse", r#"{"last":"Anderson","first":"Tom"}"#),
            ("name.@keys", r#"["first","last"]"#),
            ("name.@values", r#"["Tom","Anderson"]"#),
            ("name.@tostr", r#""{\"first\":\"Tom\",\"last\":\"Anderson\"}""#),
            ("name.@tostr|@fromstr|first", r#""Tom""#),
            ("@this.age", "37"),
            ("friends.#.nets|@flatten", r#"["ig","fb","tw","fb","tw","ig","tw"]"#),
            (r#"[age,[age,[age]]]|@flatten"#, "[37,37,[37]]"),
            (r#"[age,[age,[age]]]|@flatten:{"deep":true}"#, "[37,37,37]"),
            ("[name,{age}]|@join", r#"{"first":"Tom","last":"Anderson","age":37}"#),
            (
                r#"{"a":children,"b":friends.#.age}|@group"#,
                r#"[{"a":"Sara","b":44},{"a":"Alex","b":68},{"a":"Jack","b":47}]"#,
            ),
            ("@dig:first", r#"["Tom","Dale","Roger","Jane"]"#),
            ("name|@pretty|@ugly|@valid|first", r#""Tom""#),
            ("name|@nothing", "none"),
        ] {
            check(path, expected);
        }
    }

    #[test]
    fn broken_paths_lead_nowhere() {
        for path in [
            "",
            ".",
            "|",
            "#",
            "friends.#(",
            "friends.#(age",
            "{",
            "[age",
            "!",
            "!{",
            "\\",
            "friends.#()",
            "@",
            "@reverse:",
            "age.",
            "name..first",
            "ä.ö",
            "friends.#(a\"",
            "@dig",
        ] {
            find(&document(), path);
        }
        let deep = "[".repeat(5_000) + &"]".repeat(5_000);
        find(&document(), &deep);
        find(&document(), &format!("friends.{}", "#(a".repeat(5_000)));
    }
}
