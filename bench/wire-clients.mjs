/**
 * Subscribers of `wire.mjs`, in a process of their own: each counts the events that it gets. Told how many there are by now,
 * it says when all of them have them, so that nobody falls behind and what is measured is the delivery to all.
 */
import { connect } from 'node:net';

const [, , socketPath, token, clients] = process.argv;
const count = Number(clients);
const seen = Array.from({ length: count }, () => 0);
let wanted = Number.POSITIVE_INFINITY;

function check() {
  if (!seen.every((one) => one >= wanted)) return;
  wanted = Number.POSITIVE_INFINITY;
  process.send('all');
}

process.on('message', (events) => {
  wanted = events;
  check();
});

// One after the other: the server keeps few of those who have not greeted yet (I12).
function join(at) {
  if (at === count) {
    process.send('ready');
    return;
  }
  const socket = connect(socketPath);
  const say = (id, method, params) =>
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  say(1, 'hello', { token, protocol: 1 });
  say(2, 'events.subscribe', {});
  let answers = 2;
  socket.on('data', (chunk) => {
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, end + 1)) {
      if (answers === 0) {
        seen[at] += 1;
        continue;
      }
      answers -= 1;
      if (answers === 0) join(at + 1);
    }
    check();
  });
  socket.on('close', () => process.send('closed'));
}

join(0);
