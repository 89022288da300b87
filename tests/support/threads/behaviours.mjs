// What the actors of the host tests do: `start.prompt` names one of these.
import { setTimeout as after } from 'node:timers/promises';

const never = new Promise(() => {});

/** Does one thing by name, over the port that a real agent would have. */
export const behaviours = {
  /** Ends at once. */
  finish: async (start) => ({ kind: 'finished', text: `${start.name} done` }),

  /** Requests before it ends, all of which must arrive. */
  talk: async (_start, port) => {
    for (let index = 0; index < 50; index += 1) {
      void port.request({ type: 'delivered', n: [index] }).catch(() => {});
    }
    return { kind: 'finished', text: 'said it' };
  },

  /** Sends the text of its mail back until it is asked to stop. */
  echo: async (_start, port, signal) => {
    while (!signal.aborted) {
      try {
        await port.waitForMail(signal);
      } catch {
        return { kind: 'finished', text: 'asked to stop' };
      }
      for (const envelope of port.takeMail()) {
        await port.request({ type: 'live', event: 'text', data: envelope.body.text });
      }
    }
    return undefined;
  },

  /** Reports the interrupt together with the mail that it finds in it. */
  interruptible: async (_start, port, signal) => {
    await new Promise((resolve) => {
      port.onInterrupt(() => {
        const mail = port.takeMail().map((envelope) => envelope.body.text);
        void port.request({ type: 'live', event: 'text', data: mail.join() });
        resolve();
      });
      void port.request({ type: 'idle', why: 'end' }).catch(() => {});
      signal.addEventListener('abort', () => resolve());
    });
    return { kind: 'finished', text: 'interrupted' };
  },

  /** Never gives its loop back, but reports as it goes, as the loop over a fast stream does. */
  busy: async (_start, port) => {
    const seen = [];
    port.onInterrupt(() => seen.push('interrupt'));
    void port.request({ type: 'idle', why: 'end' }).catch(() => {});
    const yes = Promise.resolve(true);
    for (let index = 0; seen.length === 0; index += 1) {
      if (index % 10_000 === 1) await port.request({ type: 'live', event: 'text', data: 'x' });
      else await yes;
    }
    return { kind: 'finished', text: 'saw it' };
  },

  /** Asks and reports what it is answered. */
  ask: async (_start, port) => {
    const reply = await port.request({ type: 'act', call: 'cal_1', tool: 'bash', input: {} });
    const place = port.workplace();
    return { kind: 'finished', text: `${reply.type} ${place?.root ?? 'nowhere'}` };
  },

  hang: async (_start, port) => {
    void port.request({ type: 'idle', why: 'end' }).catch(() => {});
    await never;
  },

  /** Stuck for good, after it has said so. */
  spin: async (_start, port) => {
    void port.request({ type: 'idle', why: 'end' }).catch(() => {});
    await after(0);
    for (;;);
  },

  exit: async (_start, port) => {
    void port.request({ type: 'idle', why: 'end' }).catch(() => {});
    await port.waitForMail(new AbortController().signal);
    process.exit(3);
  },

  /** Outside of its run, where nothing catches it. */
  throw: async (_start, port) => {
    void port.request({ type: 'idle', why: 'end' }).catch(() => {});
    await port.waitForMail(new AbortController().signal);
    queueMicrotask(() => {
      throw new Error('thrown beside the run');
    });
    await never;
  },

  fail: async () => {
    throw Object.assign(new Error('it went wrong'), { brand: 'troupe-error', code: 'agent/odd' });
  },

  stuck: async () => ({ kind: 'stuck', code: 'script/unmatched', message: 'no turn 3' }),

  heap: async (_start, port) => {
    void port.request({ type: 'idle', why: 'end' }).catch(() => {});
    await port.waitForMail(new AbortController().signal);
    const hoard = [];
    for (;;) hoard.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
  },

  /** A global of the thread, which a next job must not find. */
  count: async () => {
    const seen = state.jobs;
    state.jobs += 1;
    return { kind: 'finished', text: String(seen) };
  },
};

const state = { jobs: 0 };

export const run = (start, port, signal) => behaviours[start.prompt](start, port, signal);

export const clock = { sleep: (ms, signal) => after(ms, undefined, { signal, ref: false }) };
