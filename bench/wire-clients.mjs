/** Subscribers of `wire.mjs`, in a process of their own: each counts what it gets and says so when it has all. */
import { connect } from 'node:net';

const [, , socketPath, token, clients, events] = process.argv;
let ready = 0;
let done = 0;
for (let count = 0; count < Number(clients); count += 1) {
  const socket = connect(socketPath);
  let seen = 0;
  const say = (id, method, params) =>
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  say(1, 'hello', { token, protocol: 1 });
  say(2, 'events.subscribe', {});
  let isReady = false;
  socket.on('data', (chunk) => {
    if (!isReady && chunk.includes('"subscription":"sub-1"')) {
      isReady = true;
      ready += 1;
      if (ready === Number(clients)) process.send('ready');
      return;
    }
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen += 1;
    if (seen === Number(events)) {
      done += 1;
      if (done === Number(clients)) process.send('done');
    }
  });
}
