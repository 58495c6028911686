//! Every page of the guide is in its table of contents: mdBook leaves out what is not.

use crate::tidy::Problem;
use crate::tidy::files::File;

const FOLDER: &str = "docs/";
const CONTENTS: &str = "docs/SUMMARY.md";

/// Pages that the table of contents does not link to.
pub(crate) fn problems(files: &[File]) -> Vec<Problem> {
    let contents = files.iter().find(|file| file.path == CONTENTS);
    let links = contents.map_or("", |contents| contents.text.as_str());
    let missing = |file: &&File| {
        let page = file.path.strip_prefix(FOLDER).filter(|page| page.ends_with(".md"));
        page.is_some_and(|page| file.path != CONTENTS && !links.contains(&format!("]({page})")))
    };
    let message = |file: &File| Problem {
        path: file.path.clone(),
        line: 0,
        message: format!("is not in {CONTENTS}, so the guide leaves it out"),
    };
    files.iter().filter(missing).map(message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_page_that_is_not_listed_is_a_problem() {
        let files = [
            file(CONTENTS, "- [Kafka](brokers/kafka.md)\n"),
            file("docs/brokers/kafka.md", ""),
            file("docs/lost.md", ""),
            file("README.md", ""),
            file("docs/pictures/report.png", ""),
        ];
        let found: Vec<_> = problems(&files).into_iter().map(|problem| problem.path).collect();
        assert_eq!(found, ["docs/lost.md"]);
    }
}
