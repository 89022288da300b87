// Thread entry of the linearizability test: told to go, it writes to the others and asks for tasks as fast as it can,
// and notes when each call began and ended, and what it gave. The clock is the process's, so the threads share it.
import { appendFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { serveThread } from '../../../dist/actors/host/serve.js';

const ROUNDS = 20;
const NO_USAGE = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  estimated: false,
};
const now = () => process.hrtime.bigint().toString();

async function run(start, port, signal) {
  const note = (entry) =>
    appendFileSync(`${process.env.HISTORY}/${start.name}.jsonl`, `${JSON.stringify(entry)}\n`);
  let calls = 0;
  const act = async (tool, input) => {
    const called = now();
    calls += 1;
    const call = `cal-${start.name}-${start.incarnation}-${calls}`;
    const reply = await port.request({ type: 'act', call, tool, input });
    const { ok, text } = reply.type === 'acted' ? reply.result : { ok: false, text: reply.type };
    note({ tool, input, ok, text, called, returned: now() });
  };
  const takeIn = async () => {
    const mail = port.takeMail();
    const took = mail.map(({ n }) => n);
    for (const { n, id, type, task } of mail)
      note({ tool: 'got', n, id, type, task, returned: now() });
    const answer = {
      type: 'answer',
      task: null,
      model: 'm',
      content: [],
      stop: 'end',
      usage: NO_USAGE,
    };
    await port.request({ type: 'answer', took, entries: [answer], usage: NO_USAGE });
    return mail;
  };
  const others = (process.env.TEAM ?? '').split(',').filter((name) => name !== start.name);
  const tasks = (process.env.TASKS ?? '').split(',');
  for (;;) {
    await port.waitForMail(signal);
    const mail = await takeIn();
    const assigned = mail.some(({ type }) => type === 'task.assign' || type === 'task.rework');
    if (mail.some(({ body }) => body.text === 'go')) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const to = others[round % others.length];
        const sent = act('send_message', { to, text: `${start.name} ${round}` });
        await Promise.all([sent, act('claim_task', { id: tasks[round % tasks.length] })]);
      }
      note({ tool: 'done', returned: now() });
    }
    // Failures that are alike would park the tasks (S15).
    const word = String(calls).replaceAll(/\d/g, (digit) => 'abcdefghij'[digit]);
    if (assigned) await act('fail_task', { reason: `${word} of ${start.name}` });
    await port.request({ type: 'idle', why: 'end' });
  }
}

await serveThread({
  run,
  clock: { sleep: (ms, signal) => after(ms, undefined, { signal, ref: false }) },
  inspect: () => new Promise(() => {}),
});
