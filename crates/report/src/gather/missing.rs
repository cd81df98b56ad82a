//! What a run does not show, in one section: a run of an older tare, or one that was asked for little, would have a heading and a
//! sentence for each.

use super::columns::Columns;
use crate::document::Section;

const LEAD: &str = "What a run of this kind may tell, and why this one does not.";

/// The sections that have a table, and one that names the others. What is damaged stays where it is looked for.
pub(crate) fn gathered(sections: Vec<Section>) -> Vec<Section> {
    let is_shown = |section: &Section| section.table.is_some() || !section.damage.is_empty();
    let (mut shown, missing): (Vec<Section>, Vec<Section>) = sections.into_iter().partition(is_shown);
    if !missing.is_empty() {
        let columns = Columns::new().text("what", "what", |section: &Section| section.title.clone()).text(
            "why",
            "why not",
            |section| section.notes.join("; "),
        );
        let table = columns.table("What is missing", missing);
        shown.push(Section::new("missing", "What this run does not show", LEAD, table));
    }
    shown
}
