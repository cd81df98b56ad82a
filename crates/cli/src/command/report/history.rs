//! `tare report A B`: several runs in one document.

use std::path::PathBuf;

use anyhow::bail;
use tare_report::gather::history::{self, History};

use super::{
    Args, Form, content,
    deliver::{Destination, STDOUT},
    tell_damage,
};
use crate::exit::Outcome;

/// Two runs, the second by the first, or more of them in the order of time. What is written goes into the folder of the last
/// one that is compared, whatever was named after it, and never in place of its own page.
pub(super) fn report(args: &Args, runs: &[PathBuf]) -> anyhow::Result<Outcome> {
    match args.format {
        Form::Hgrm => {
            bail!("--format hgrm: latencies of several runs are several sets of files: name one run")
        }
        Form::Junit => {
            bail!("--format junit: run against run asks for no gate, and `tare compare` does: name one run")
        }
        _ => {}
    }
    let History { document, last } = history::history(runs)?;
    tell_damage(&document.damage);
    let content = content(&document, args.format, args.section.as_deref())?;
    let default = match args.format {
        Form::Html => "history.html",
        Form::Csv if args.section.is_none() => "history-csv",
        Form::Parquet if args.section.is_none() => "history-parquet",
        _ => STDOUT,
    };
    content.deliver(&Destination::of(args.out.as_deref(), &last, default))?;
    Ok(Outcome::Fine)
}
