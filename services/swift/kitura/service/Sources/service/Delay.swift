import Dispatch

/// Simulated handling time, waited for by a timer: at most `slots` messages are in it at once, the others queue.
final class Delay {
  private let interval: DispatchTimeInterval
  private let queue = DispatchQueue(label: "delay")
  private var free: Int
  private var waiting: [() -> Void] = []

  init(milliseconds: Int, slots: Int) {
    interval = .milliseconds(milliseconds)
    free = slots
  }

  /// Calls `answer` when a slot was free for the whole delay.
  func run(_ answer: @escaping () -> Void) {
    queue.async {
      self.waiting.append(answer)
      self.startNext()
    }
  }

  private func startNext() {
    guard free > 0, !waiting.isEmpty else { return }
    free -= 1
    let answer = waiting.removeFirst()
    queue.asyncAfter(deadline: .now() + interval) {
      self.free += 1
      self.startNext()
      DispatchQueue.global().async { answer() }
    }
  }
}
