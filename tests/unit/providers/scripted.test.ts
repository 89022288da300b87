import { expect, test } from 'vitest';
import { asActorName, asCallId, asTaskId, isTroupeError } from '../../../src/kernel/index.ts';
import type {
  MailMark,
  Message,
  ProviderEvent,
  ProviderRequest,
  UserBlock,
} from '../../../src/protocol/index.ts';
import { makeScriptedProvider, parseScript, providerFor } from '../../../src/providers/index.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

type End = Extract<ProviderEvent, { type: 'end' }>;
type ResultBlock = Extract<UserBlock, { type: 'result' }>;

const mail = (text: string, more: Partial<MailMark> = {}): UserBlock => ({
  type: 'text',
  text,
  mail: [{ from: asActorName('user'), type: 'chat.message', text, ...more }],
});

const result = (tool: string, more: Partial<ResultBlock> = {}): UserBlock => ({
  type: 'result',
  call: asCallId('c1'),
  tool,
  ok: true,
  text: '',
  ...more,
});

/** A conversation with a script, as the loop would hold it. */
class Talk {
  readonly clock = new VirtualClock();
  readonly messages: Message[] = [];
  #ids = 0;
  readonly #provider;
  readonly #who: Partial<ProviderRequest>;

  constructor(sections: string, who: Partial<ProviderRequest> = {}) {
    const parsed = parseScript(`version: 1\nsections:\n${sections}`, 'demo.yaml');
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    this.#who = who;
    this.#provider = makeScriptedProvider({
      script: parsed.script,
      clock: this.clock,
      callId: () => asCallId(`c${(this.#ids += 1)}`),
    });
  }

  stream(signal: AbortSignal = new AbortController().signal): AsyncIterable<ProviderEvent> {
    return this.#provider.stream(
      {
        model: 'demo.yaml',
        system: '',
        tools: [],
        messages: this.messages,
        maxTokens: 1000,
        actor: asActorName('ada'),
        profile: 'implementer',
        task: null,
        ...this.#who,
      },
      signal,
    );
  }

  /** The answer to this, without making it a part of the conversation. */
  async offer(...content: UserBlock[]): Promise<ProviderEvent> {
    this.messages.push({ role: 'user', content });
    const events = await this.#drain();
    this.messages.pop();
    return events.at(-1)!;
  }

  /** The answer to this, committed. */
  async say(...content: UserBlock[]): Promise<End> {
    this.messages.push({ role: 'user', content });
    const last = (await this.#drain()).at(-1)!;
    if (last.type !== 'end') throw new Error(JSON.stringify(last));
    this.messages.push({ role: 'assistant', content: last.content, meta: last.meta! });
    return last;
  }

  async #drain(): Promise<ProviderEvent[]> {
    const events: ProviderEvent[] = [];
    const all = (async () => {
      for await (const event of this.stream()) events.push(event);
    })();
    await this.clock.runUntil(all);
    return events;
  }
}

const textOf = (end: ProviderEvent): string =>
  end.type === 'end'
    ? end.content.map((block) => (block.type === 'text' ? block.text : `[${block.name}]`)).join('')
    : end.type;

test('turns come by the number of committed answers; what was not committed is offered again', async () => {
  const talk = new Talk('  - turns: [{ text: one }, { text: two }]');
  expect(textOf(await talk.offer(mail('x')))).toBe('one');
  expect(textOf(await talk.say(mail('x')))).toBe('one');
  expect(textOf(await talk.offer(mail('x')))).toBe('two');
  expect(textOf(await talk.say(mail('y')))).toBe('two');
});

test('L5: a turn that nobody wrote is an error that names actor, task, section and what came', async () => {
  const talk = new Talk('  - actor: bo\n    turns: []\n  - turns: [{ text: one }]', {
    task: asTaskId('parser'),
  });
  await talk.say(mail('x'));
  expect(await talk.offer(result('bash', { ok: false, text: 'exit 1' }), mail('well?'))).toEqual({
    type: 'error',
    code: 'scripted/no-turn',
    message:
      'demo.yaml: actor ada (profile implementer) on task parser, section 2 (line 5): ' +
      'turn 2 was asked for, it has 1; what came: failed result of bash: "exit 1"; ' +
      'mail chat.message from user: "well?"',
    hint: 'Add the turn, an alternative without `when`, or `otherwise` to that section.',
    retryable: false,
  });
});

test('L5: no section at all is an error too', async () => {
  const talk = new Talk('  - actor: bo\n    turns: [{ text: one }]');
  expect(await talk.offer(mail('x'))).toMatchObject({
    code: 'scripted/no-turn',
    message: 'demo.yaml: no section for actor ada (profile implementer) outside a task',
  });
});

test('the first section that fits actor, profile, task and beginning is taken', async () => {
  const sections = `
  - { actor: bo, turns: [{ text: actor }] }
  - { profile: reviewer, turns: [{ text: profile }] }
  - { task: none, turns: [{ text: outside }] }
  - { task: parser, when: { mail: { contains: attempt 2 } }, turns: [{ text: second }] }
  - { task: parser, turns: [{ text: first }] }
`;
  const on = (who: Partial<ProviderRequest>, text = 'go'): Promise<ProviderEvent> =>
    new Talk(sections, who).offer(mail(text));
  expect(textOf(await on({ actor: asActorName('bo') }))).toBe('actor');
  expect(textOf(await on({ profile: 'reviewer' }))).toBe('profile');
  expect(textOf(await on({}))).toBe('outside');
  expect(textOf(await on({ task: asTaskId('parser') }))).toBe('first');
  expect(textOf(await on({ task: asTaskId('parser') }, 'attempt 2 of 2'))).toBe('second');
});

test('alternatives look at what the last request brought; without one `otherwise` answers and the turn waits', async () => {
  const talk = new Talk(`
  - turns:
      - any:
          - { when: { result: { tool: bash, ok: false, contains: TypeError } }, text: broken }
          - { when: { mail: { type: task.rework, task: parser } }, text: rework }
    otherwise: { text: Noted. }
`);
  expect(textOf(await talk.offer(result('bash', { ok: false, text: 'a TypeError' })))).toBe(
    'broken',
  );
  expect(textOf(await talk.offer(mail('', { type: 'task.rework' })))).toBe('Noted.');
  expect(textOf(await talk.say(mail('something')))).toBe('Noted.');
  expect(textOf(await talk.say(mail('', { type: 'task.rework', task: asTaskId('parser') })))).toBe(
    'rework',
  );
  expect(textOf(await talk.offer(mail('more')))).toBe('Noted.');
});

test('a reaction comes before the turns, does not count as one, and only once when it says so', async () => {
  const talk = new Talk(`
  - on: [{ when: { mail: { contains: stop } }, once: true, answer: { text: Stopping. } }]
    turns: [{ text: one }, { text: two }]
`);
  expect(textOf(await talk.say(mail('go')))).toBe('one');
  expect(textOf(await talk.say(mail('stop it')))).toBe('Stopping.');
  expect(textOf(await talk.say(mail('stop it')))).toBe('two');
});

test('L4: calls that a crash cut are offered again, and the script does not notice', async () => {
  const talk = new Talk(`
  - turns:
      - calls: [{ bash: { command: a } }, { bash: { command: b } }]
      - any: [{ when: { result: { ok: false } }, text: failed }, { text: fine }]
`);
  const first = await talk.say(mail('go'));
  const [a, b] = first.content.flatMap((block) => (block.type === 'call' ? [block.id] : []));
  const again = await talk.say(
    result('bash', { call: a! }),
    result('bash', { call: b!, ok: false, text: 'interrupted', interrupted: 'crash' }),
  );
  expect(again.content).toEqual([
    { type: 'call', id: 'c3', name: 'bash', input: { command: 'b' } },
  ]);
  expect(again.meta).toEqual({ script: { section: 0, turn: 0, again: true } });
  expect(textOf(await talk.say(result('bash', { call: asCallId('c3') })))).toBe('fine');
});

test('L4: with interrupt mail beside them, calls that a crash cut are not offered again', async () => {
  const talk = new Talk(`
  - turns:
      - calls: [{ bash: { command: sleep 600 } }]
      - any: [{ when: { mail: { contains: stop } }, text: stopped }, { text: slept }]
`);
  const [call] = (await talk.say(mail('go'))).content;
  const id = call?.type === 'call' ? call.id : asCallId('none');
  const cut = result('bash', { call: id, ok: false, text: 'interrupted', interrupted: 'crash' });
  expect(await talk.offer(cut, mail('stop'))).toMatchObject({ meta: { script: { again: true } } });
  expect(textOf(await talk.say(cut, mail('stop', { lane: 'interrupt' })))).toBe('stopped');
});

test('it streams in pieces, waits on the clock, and estimates usage that nobody stated', async () => {
  const talk = new Talk(
    '  - turns: [{ text: "The quick brown fox jumps over the lazy dog.", delay: 300ms, pace: 10ms, calls: [{ grep: {} }] }]',
  );
  talk.messages.push({ role: 'user', content: [mail('x')] });
  const seen: string[] = [];
  const all = (async () => {
    for await (const event of talk.stream()) {
      const what = event.type === 'text' ? event.delta : event.type;
      seen.push(`${talk.clock.monotonicMs()} ${what}`);
    }
  })();
  await talk.clock.runUntil(all);
  expect(seen).toEqual([
    '300 The quick brown fox ',
    '310 jumps over the lazy dog.',
    '320 call',
    '320 end',
  ]);
  const stated = new Talk('  - turns: [{ text: x, usage: { input: 5, output: 2, usd: 0.5 } }]');
  expect((await stated.say(mail('x'))).usage).toEqual({
    inputTokens: 5,
    outputTokens: 2,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsd: 0.5,
    estimated: false,
  });
  const estimated = await new Talk('  - turns: [{ text: x }]').say(mail('x'));
  expect(estimated.usage.estimated).toBe(true);
  expect(estimated.usage.inputTokens).toBeGreaterThan(0);
});

test('L6: an abort ends the stream with `aborted`, also in the middle of a delay', async () => {
  const talk = new Talk('  - turns: [{ text: never, delay: 1m }]');
  talk.messages.push({ role: 'user', content: [mail('x')] });
  const controller = new AbortController();
  const events: ProviderEvent[] = [];
  const all = (async () => {
    for await (const event of talk.stream(controller.signal)) events.push(event);
  })();
  await talk.clock.advance(10);
  controller.abort();
  await all;
  expect(events).toEqual([{ type: 'aborted' }]);
});

test('a script may fail like a model does', async () => {
  const talk = new Talk('  - turns: [{ fail: { message: overloaded, retryable: true } }]');
  expect(await talk.offer(mail('x'))).toEqual({
    type: 'error',
    code: 'scripted/fail',
    message: 'overloaded',
    retryable: true,
  });
});

test('the registry knows which providers there are', () => {
  const deps = {
    clock: new VirtualClock(),
    callId: () => asCallId('c'),
    scripts: { 'scripted/a/b.yaml': 'version: 1\nsections: [{ turns: [] }]', 'scripted/bad': 'x' },
  };
  expect(providerFor('scripted/a/b.yaml', deps)).toMatchObject({
    provider: { name: 'scripted' },
    model: 'a/b.yaml',
  });
  const codeOf = (model: string): string => {
    try {
      return providerFor(model, deps).model;
    } catch (error) {
      return isTroupeError(error) ? `${error.code} ${error.message}` : 'no TroupeError';
    }
  };
  expect(codeOf('replay/run')).toContain('is played by the thread of its actor');
  expect(codeOf('scriptd/x')).toContain('providers/unknown');
  expect(codeOf('scripted')).toContain('providers/no-model');
  expect(codeOf('scripted/gone.yaml')).toContain('providers/no-script');
  expect(codeOf('scripted/bad')).toContain('providers/bad-script bad:1:1: ');
});
