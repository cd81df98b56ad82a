//! Requests answers repeatedly, over more than a second and from a fresh process, so that changing values
//! change. It knows no sockets and no clock; the respondent provides both.

use std::time::Duration;

use tare_load::http1::Response;

/// Pause before the last round, longer than a second: a value in whole seconds has then changed, and so has a
/// time since the start.
const APART: Duration = Duration::from_millis(1_100);

/// Answers requests.
pub trait Respondent {
    type Error;

    /// The answer to the request with this number; absent if it is no longer sent.
    ///
    /// # Errors
    /// Nothing can be learned.
    fn ask(&mut self, question: usize) -> Result<Option<Response>, Self::Error>;

    /// Restarts it, if it can be restarted.
    ///
    /// # Errors
    /// The restart fails.
    fn restart(&mut self) -> Result<(), Self::Error>;

    fn rest(&mut self, lasts: Duration);
}

/// The answers to each of `questions` requests, in order. Each is sent `times` before a restart and as often
/// after it, the last time more than a second after the others.
///
/// # Errors
/// Errors of the respondent.
pub fn ask_over_time<R: Respondent>(
    respondent: &mut R,
    questions: usize,
    times: usize,
) -> Result<Vec<Vec<Response>>, R::Error> {
    let mut answers = vec![Vec::new(); questions];
    for round in 0..2 * times {
        if round == times {
            respondent.restart()?;
        }
        if round + 1 == 2 * times {
            respondent.rest(APART);
        }
        for (question, answers) in answers.iter_mut().enumerate() {
            answers.extend(respondent.ask(question)?);
        }
    }
    Ok(answers)
}

#[cfg(test)]
mod tests;
