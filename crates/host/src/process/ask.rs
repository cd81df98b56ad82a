//! A program that is asked something that it answers at once, such as its version. There is no supervisor: it does no work,
//! and what it starts is ended with it.

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

/// A program that was asked. Several can be, before the first answer is waited for.
#[derive(Debug)]
pub struct Asked {
    child: Child,
    /// Files and no pipes: what stays behind could keep a pipe open.
    answers: [File; 2],
    began: Instant,
    within: Duration,
}

impl Asked {
    /// Starts it, with nothing to read. It has so long to answer.
    pub fn put(command: &mut Command, within: Duration) -> io::Result<Asked> {
        let file = || rustix::fs::memfd_create("answer", MemfdFlags::CLOEXEC).map(File::from);
        let answers = [file()?, file()?];
        command.stdin(Stdio::null()).stdout(answers[0].try_clone()?).stderr(answers[1].try_clone()?);
        let child = command.process_group(0).spawn()?;
        Ok(Asked { child, answers, began: Instant::now(), within })
    }

    /// What it printed, and how it ended.
    pub fn answer(mut self) -> io::Result<Output> {
        while !self.has_ended()? {
            if self.began.elapsed() > self.within {
                let text = format!("no answer within {:?}", self.within);
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            std::thread::sleep(TICK);
        }
        let status = self.end()?;
        let [stdout, stderr] = &mut self.answers;
        Ok(Output { status, stdout: read(stdout)?, stderr: read(stderr)? })
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// It stays to be waited for, so that the number of its group is nobody else's.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid()), options)?.is_some())
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        // All of the group may have ended.
        let _ = kill_process_group(self.pid(), Signal::KILL);
        self.child.wait()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // Whose answer was read has been waited for, and its number may be another's.
        if self.has_ended().is_ok() {
            let _ = self.end();
        }
    }
}

fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(300);
    const PATIENCE: Duration = Duration::from_secs(30);

    fn sh(script: &str, within: Duration) -> io::Result<Output> {
        Asked::put(Command::new("sh").args(["-c", script]), within)?.answer()
    }

    fn is_alive(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    }

    #[test]
    fn an_answer_is_all_that_was_printed() {
        let output = sh("read -r line || echo nothing to read; echo 1.2 >&2; exit 3", PATIENCE).unwrap();
        let told = (output.status.code(), output.stdout.as_slice(), output.stderr.as_slice());
        assert_eq!(told, (Some(3), &b"nothing to read\n"[..], &b"1.2\n"[..]));
        let long = sh("yes | head -c 300000", PATIENCE).unwrap();
        assert_eq!(long.stdout.len(), 300_000, "more than fits into a pipe");
    }

    #[test]
    fn who_does_not_answer_is_ended() {
        let began = Instant::now();
        let error = sh("sleep 60", SOON).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::TimedOut, "no answer within 300ms".to_owned())
        );
        assert!(began.elapsed() < PATIENCE);
    }

    #[test]
    fn who_answers_and_leaves_somebody_behind_is_not_waited_for() {
        let output = sh("sleep 60 & echo $!", PATIENCE).unwrap();
        let pid = String::from_utf8(output.stdout).unwrap();
        let end = Instant::now() + PATIENCE;
        while is_alive(pid.trim()) && Instant::now() < end {
            std::thread::sleep(TICK);
        }
        assert!(!is_alive(pid.trim()), "{pid}");
    }

    #[test]
    fn who_is_asked_first_is_not_waited_for_by_the_others() {
        let began = Instant::now();
        let slow = Asked::put(Command::new("sleep").arg("60"), PATIENCE).unwrap();
        let pid = slow.child.id().to_string();
        let quick = Asked::put(Command::new("true").arg(""), PATIENCE).unwrap();
        assert!(quick.answer().unwrap().status.success());
        drop(slow);
        assert!(!is_alive(&pid));
        assert!(began.elapsed() < PATIENCE);
    }
}
