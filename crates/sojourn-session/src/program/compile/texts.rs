//! Texts: placeholders become slots, generators and cells.

use sojourn_plan::reading::suggestion;

use super::Compiler;
use crate::definition::{Column, Place, PlaceholderKind};
use crate::program::{Piece, Template, TemplateId};
use crate::text::{Part, Text};

impl Compiler<'_> {
    pub(super) fn template(&mut self, text: &Text) -> TemplateId {
        let mut parts = Vec::with_capacity(text.parts.len());
        for part in &text.parts {
            match part {
                Part::Literal(text) => parts.push(Piece::Literal(text.as_str().into())),
                Part::Value { placeholder, escape } => {
                    let Some(it) = self.definition.placeholders.get(*placeholder as usize) else {
                        continue;
                    };
                    let escape = *escape;
                    parts.push(match &it.kind {
                        PlaceholderKind::Variable(name) => {
                            Piece::Variable { slot: self.slot(name), escape }
                        }
                        PlaceholderKind::Generated(generator) => {
                            if *generator as usize >= self.program.generators.len() {
                                continue;
                            }
                            Piece::Generated { generator: *generator, escape }
                        }
                        PlaceholderKind::Status => Piece::Status,
                        PlaceholderKind::Cell { pick, column } => {
                            let Some((table, column)) = self.column(*pick, column, &it.place)
                            else {
                                continue;
                            };
                            Piece::Cell { row: self.row(*pick), table, column, escape }
                        }
                    });
                }
            }
        }
        self.program.templates.push(Template { parts: parts.into() });
        // Fewer than the script's texts, which are fewer than 4 GiB.
        self.program.templates.len() as u32 - 1
    }

    fn column(&mut self, pick: u32, column: &Column, place: &Place) -> Option<(u32, u32)> {
        let source = self.definition.picks.get(pick as usize)?.source;
        let number = self.table(source)?;
        let table = &self.program.tables[number as usize];
        let found = match column {
            Column::Index(index) => (*index < table.width()).then_some(*index),
            Column::Name(name) => table.columns().iter().position(|known| known == name),
        };
        if found.is_none() {
            let (shown, hint) = match column {
                Column::Index(index) => {
                    (index.to_string(), Some(format!("there are {}, from 0", table.width())))
                }
                Column::Name(name) => {
                    (name.clone(), suggestion(name, table.columns().iter().map(String::as_str)))
                }
            };
            let path = &self.definition.sources[source as usize].path;
            let error = place.error(format!("`{path}` has no column `{shown}`"), hint);
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
        }
        found.map(|column| (number, column as u32))
    }
}
