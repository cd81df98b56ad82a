//! A comparison as Markdown, for a pull request.

use super::{
    Comparison, Contender,
    text::{cells, extent, legend},
};
use crate::report::markdown::escape;

/// The comparison as Markdown.
pub fn markdown(found: &Comparison) -> String {
    let mut out = format!("### {}: {}\n\n", found.head(), escape(&found.reason));
    out += &format!("`{}` against `{}`\n\n", code(&found.candidate.label), code(&found.baseline.label));
    if found.figures.iter().any(|figure| figure.ratio.is_some()) {
        out += "| | baseline | candidate | change | interval | bound | verdict |\n|---|--:|--:|--:|--:|--:|---|\n";
        for figure in &found.figures {
            let [name, verdict, rest @ ..] = cells(figure);
            out += &format!("| {} | {} | {verdict} |\n", escape(&name), rest.join(" | "));
        }
        out += &format!("\n{}\n", escape(&legend(found)));
    }
    out += &format!(
        "\n- baseline: {}\n- candidate: {}\n",
        contender(&found.baseline),
        contender(&found.candidate)
    );
    out += &format!("- contract {}; {}\n", escape(&found.contract), escape(&found.load));
    out += &format!("- {}\n", escape(&extent(found)));
    let environment = &found.environment;
    out += &format!(
        "- {}, {} CPUs ({}), {}\n",
        escape(&environment.system),
        environment.cpus,
        escape(&environment.cpu),
        escape(&environment.kernel)
    );
    for figure in &found.figures {
        for remark in figure.remarks() {
            out += &format!("- {}: {}\n", escape(&figure.name), escape(&remark));
        }
    }
    found.findings.iter().for_each(|found| out += &format!("- {}\n", escape(&found.scoped())));
    out
}

fn contender(found: &Contender) -> String {
    let title = found.title.iter().map(|title| format!(", {}", escape(title)));
    let version = found.version.iter().map(|version| format!(" {}", escape(version)));
    format!("`{}`{}{}", code(&found.label), version.collect::<String>(), title.collect::<String>())
}

/// Between backticks nothing else is escaped.
fn code(text: &str) -> String {
    text.replace(['`', '\n', '\r'], " ")
}
