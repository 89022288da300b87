// Thread entry of the poison test: it takes in its mail, and dies of a letter that says so, as native code would.
import { setTimeout as after } from 'node:timers/promises';
import { serveThread } from '../../../dist/actors/host/serve.js';

const usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  estimated: false,
};

async function run(_start, port, signal) {
  for (;;) {
    await port.waitForMail(signal);
    const mail = port.takeMail();
    await port.request({ type: 'live', event: 'thinking', data: '' });
    await port.request({ type: 'delivered', n: mail.map(({ n }) => n) });
    if (mail.some(({ body }) => body.text.includes('poison'))) process.exit(3);
    const answer = { type: 'answer', task: null, model: 'm', content: [], stop: 'end', usage };
    const took = mail.map(({ n }) => n);
    await port.request({ type: 'answer', took, entries: [answer], usage });
    await port.request({ type: 'idle', why: 'end' });
  }
}

await serveThread({
  run,
  clock: { sleep: (ms, signal) => after(ms, undefined, { signal, ref: false }) },
  inspect: () => new Promise(() => {}),
});
