//! A short query to a program, such as its version. It needs no supervisor: the program does no lasting work,
//! and its process group is killed at the end.

use std::{
    fs::File,
    io::{self, Read, Seek},
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Output, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    fs::MemfdFlags,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

const TICK: Duration = Duration::from_millis(2);
/// The longest known output is that of `cargo metadata` for a workspace: some MB.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// A running query. Several may run at once.
#[derive(Debug)]
pub struct Query {
    child: Child,
    /// Standard output and standard error. They are files: a surviving process could hold a pipe open.
    answers: [File; 2],
    began: Instant,
    within: Duration,
}

impl Query {
    /// Starts the program with empty standard input. It must end within this time.
    ///
    /// # Errors
    /// The program cannot be started, or no memory file can be made for its output.
    pub fn put(command: &mut Command, within: Duration) -> io::Result<Query> {
        let file = || rustix::fs::memfd_create("answer", MemfdFlags::CLOEXEC).map(File::from);
        let answers = [file()?, file()?];
        command.stdin(Stdio::null()).stdout(answers[0].try_clone()?).stderr(answers[1].try_clone()?);
        let child = command.process_group(0).spawn()?;
        Ok(Query { child, answers, began: Instant::now(), within })
    }

    /// Waits for the end; returns the status and the output.
    ///
    /// # Errors
    /// The program did not end in time ([`io::ErrorKind::TimedOut`]), printed too much, or its output cannot be read.
    pub fn answer(mut self) -> io::Result<Output> {
        while !self.has_ended()? {
            if self.began.elapsed() > self.within {
                let text = format!("no answer within {:?}", self.within);
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            if self.says_too_much()? {
                let text = format!("it printed more than {ANSWER_BYTES_MAX} bytes");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
            }
            std::thread::sleep(TICK);
        }
        let status = self.end()?;
        let [stdout, stderr] = &mut self.answers;
        Ok(Output { status, stdout: read(stdout)?, stderr: read(stderr)? })
    }

    fn says_too_much(&self) -> io::Result<bool> {
        let lengths = self.answers.iter().map(|file| file.metadata().map(|file| file.len()));
        Ok(lengths.collect::<io::Result<Vec<_>>>()?.into_iter().any(|length| length > ANSWER_BYTES_MAX))
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Leaves the process as a zombie, so that its process group number cannot be reused yet.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid()), options)?.is_some())
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        // An error only means that the whole group has already ended.
        let _ = kill_process_group(self.pid(), Signal::KILL);
        self.child.wait()
    }
}

impl Drop for Query {
    fn drop(&mut self) {
        // After `answer` the process has been reaped, and another process may have its number.
        if self.has_ended().is_ok() {
            let _ = self.end();
        }
    }
}

fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(300);
    const PATIENCE: Duration = Duration::from_secs(30);

    fn sh(script: &str, within: Duration) -> io::Result<Output> {
        Query::put(Command::new("sh").args(["-c", script]), within)?.answer()
    }

    fn is_alive(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    }

    #[test]
    fn an_answer_is_all_that_was_printed() {
        let output = sh("read -r line || echo nothing to read; echo 1.2 >&2; exit 3", PATIENCE).unwrap();
        let found = (output.status.code(), output.stdout.as_slice(), output.stderr.as_slice());
        assert_eq!(found, (Some(3), &b"nothing to read\n"[..], &b"1.2\n"[..]));
        let long = sh("yes | head -c 300000", PATIENCE).unwrap();
        assert_eq!(long.stdout.len(), 300_000, "more than fits into a pipe");
    }

    #[test]
    fn a_program_without_an_answer_is_killed() {
        let began = Instant::now();
        let error = sh("sleep 60", SOON).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::TimedOut, "no answer within 300ms".to_owned())
        );
        assert!(began.elapsed() < PATIENCE);
    }

    #[test]
    fn an_answer_without_an_end_is_cut_off() {
        let error = sh("yes", PATIENCE).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
    }

    #[test]
    fn a_process_that_is_left_behind_is_killed() {
        let output = sh("sleep 60 & echo $!", PATIENCE).unwrap();
        let pid = String::from_utf8(output.stdout).unwrap();
        let end = Instant::now() + PATIENCE;
        while is_alive(pid.trim()) && Instant::now() < end {
            std::thread::sleep(TICK);
        }
        assert!(!is_alive(pid.trim()), "{pid}");
    }

    #[test]
    fn queries_run_at_the_same_time() {
        let began = Instant::now();
        let slow = Query::put(Command::new("sleep").arg("60"), PATIENCE).unwrap();
        let pid = slow.child.id().to_string();
        let quick = Query::put(Command::new("true").arg(""), PATIENCE).unwrap();
        assert!(quick.answer().unwrap().status.success());
        drop(slow);
        assert!(!is_alive(&pid));
        assert!(began.elapsed() < PATIENCE);
    }
}
