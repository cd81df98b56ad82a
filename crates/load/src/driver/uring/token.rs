//! The user data of a completion: which operation on which connection it belongs to.

/// The bits of a generation within a token.
pub(super) const GENERATION_MAX: u32 = (1 << 29) - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Connect,
    Receive,
    /// A send that is tried once, when it is submitted. It completes silently if it was sent whole.
    SmallSend,
    /// A send that waits until it is sent whole.
    LargeSend,
    /// The end of a connection, whose result is ignored.
    End,
}

/// An operation on a connection, as the user data of its completion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) operation: Operation,
    pub(super) slot: usize,
    pub(super) generation: u32,
}

impl Token {
    #[inline]
    pub(super) fn pack(self) -> u64 {
        (self.operation as u64) << 61 | u64::from(self.generation) << 32 | self.slot as u64
    }

    #[inline]
    pub(super) fn unpack(data: u64) -> Token {
        let operation = match data >> 61 {
            0 => Operation::Connect,
            1 => Operation::Receive,
            2 => Operation::SmallSend,
            3 => Operation::LargeSend,
            _ => Operation::End,
        };
        Token { operation, slot: data as u32 as usize, generation: (data >> 32) as u32 & GENERATION_MAX }
    }
}
