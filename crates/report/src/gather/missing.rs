//! What a run does not show, in one section: a run of an older tare, or one that was asked for little, would have a heading and a
//! sentence for each.

use crate::{
    document::{Column, Section, Unit},
    gather::fields::{field, table},
};

const LEAD: &str = "What a run of this kind may tell, and why this one does not.";

/// The sections that have a table, and one that names the others. What is damaged stays where it is looked for.
pub(crate) fn gathered(sections: Vec<Section>) -> Vec<Section> {
    let is_told = |section: &Section| section.table.is_some() || !section.damage.is_empty();
    let (mut told, untold): (Vec<Section>, Vec<Section>) = sections.into_iter().partition(is_told);
    if untold.is_empty() {
        return told;
    }
    let fields = vec![
        field(Column::new("what", "what", Unit::Text), |section: &Section| section.title.clone()),
        field(Column::new("why", "why not", Unit::Text), |section: &Section| section.notes.join("; ")),
    ];
    told.push(Section::new(
        "untold",
        "What this run does not show",
        LEAD,
        table("What is missing", fields, untold),
    ));
    told
}
