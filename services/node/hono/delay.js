// Simulated handling time: at most `slots` callers wait for their timer at
// once, the others wait for a slot.

export function createDelay(slots, milliseconds) {
  const queue = [];
  let free = slots;

  function start(done) {
    setTimeout(() => {
      done();
      if (queue.length > 0) start(queue.shift());
      else free += 1;
    }, milliseconds);
  }

  return () =>
    new Promise((done) => {
      if (free === 0) return queue.push(done);
      free -= 1;
      start(done);
    });
}
