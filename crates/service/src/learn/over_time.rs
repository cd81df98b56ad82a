//! How an answer is learned: by asking again, after more than a second and of a fresh process, so that whatever changes has changed.
//! It knows no sockets and no clock: who is asked brings both.

use std::time::Duration;

use tare_load::http1::Response;

/// How long the last questions come after those before them, which are the first ones that this process was asked. A value in whole
/// seconds is another one by then, and so is a time since the start.
const APART: Duration = Duration::from_millis(1_100);

/// Who is asked.
pub trait Respondent {
    type Error;

    /// The answer to the question of this number; absent if that is not asked any more.
    ///
    /// # Errors
    /// Nothing can be learned.
    fn ask(&mut self, question: usize) -> Result<Option<Response>, Self::Error>;

    /// Starts it afresh, if it is one that can be started.
    ///
    /// # Errors
    /// It does not start again.
    fn restart(&mut self) -> Result<(), Self::Error>;

    fn rest(&mut self, lasts: Duration);
}

/// The answers to each of `questions` questions, in the order in which they came. Each is asked `times` before a fresh start and as often
/// after it, the last time more than a second after the others.
///
/// # Errors
/// Those of the respondent.
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
