/** A thread of the journal benchmark: senders in a closed loop, or the receiver of what became durable. */
import { parentPort, workerData } from 'node:worker_threads';

const port = workerData.port;

if (workerData.role === 'receiver') receive();
else send();

/** Tells the time from send to here of every message, by a clock that all threads share. */
function receive() {
  let latencies = [];
  port.on('message', (times) => {
    const now = process.hrtime.bigint();
    for (const time of times) latencies.push(Number(now - BigInt(time)) / 1000);
  });
  parentPort.on('message', () => {
    parentPort.postMessage(latencies);
    latencies = [];
  });
}

/** `senders` of them, each waits for its acknowledgement; what one tick sends goes in one message. */
function send() {
  const { senders, bytes, from } = workerData;
  let going = true;
  const text = 'x'.repeat(Math.max(1, bytes - 62));
  const make = (sender) => [
    sender,
    JSON.stringify({ k: 'msg', to: `a${sender}`, text }),
    process.hrtime.bigint(),
  ];
  const all = Array.from({ length: senders }, (_, index) => from + index);
  port.on('message', (acked) => {
    if (going) port.postMessage(acked.map(make));
  });
  parentPort.on('message', () => {
    going = false;
    port.close();
  });
  port.postMessage(all.map(make));
}
