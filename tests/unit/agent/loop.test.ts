import { expect, test } from 'vitest';
import { asActorName, asCallId } from '../../../src/kernel/index.ts';
import { NO_USAGE, type Provider, type ProviderEvent } from '../../../src/protocol/index.ts';
import { World } from './world.ts';

test('a task from its assignment to its end, with reads, changes, a command and a message', async () => {
  const world = new World({
    files: { 'a.js': 'let a = 1;\n' },
    model: `
  - task: parser
    turns:
      - { text: Reading., calls: [{ read_file: { path: a.js } }, { grep: { pattern: let } }] }
      - { calls: [{ write_file: { path: b.js, content: "b\\n" } }, { edit_file: { path: a.js, old_text: "= 1", new_text: "= 2" } }] }
      - { calls: [{ bash: { command: npm test } }] }
      - { calls: [{ send_message: { to: bo, text: done } }, { complete_task: { summary: fixed } }, { bash: { command: too late } }] }
`,
  });
  world.assign('parser');
  expect(await world.settle()).toBe('resting');
  expect(world.transcript()).toMatchInlineSnapshot(`
    [
      "mail Do parser.",
      "answer Reading. [read_file] [grep]",
      "  read_file:     1	let a = 1;",
      "  grep: a.js:1: let a = 1;",
      "answer [write_file] [edit_file]",
      "  write_file: created b.js (2 bytes)",
      "  edit_file: edited a.js at line 1",
      "answer [bash]",
      "  bash: exit 0",
      "answer [send_message] [complete_task] [bash]",
      "  send_message: accepted",
      "  complete_task: noted",
      "  bash: ! not run: your task has ended with the call before",
    ]
  `);
  expect(world.tree.text('a.js')).toBe('let a = 2;\n');
  expect(world.effects).toEqual(['bash npm test', 'to bo: done', 'complete_task']);
  expect(world.log).toEqual(['delivered 1', 'idle end']);
  expect(world.allSeen()).toBe(true);
  expect(world.requests).toHaveLength(4);
});

test('M5: mail that comes while calls run is in the next request, after their results', async () => {
  const world = new World({
    model: `
  - on: [{ when: { mail: { from: bo } }, answer: { text: Heard. } }]
    turns: [{ calls: [{ bash: { command: one } }, { bash: { command: two } }] }, { text: Done. }]
`,
  });
  world.onBash = async (command) => {
    if (command === 'one') world.send('psst', { from: asActorName('bo') });
    return { ok: true, text: command };
  };
  world.assign('t');
  await world.settle();
  expect(world.transcript()).toEqual([
    'mail Do t.',
    'answer [bash] [bash]',
    '  bash: one',
    '  bash: two',
    'mail psst',
    'answer Heard.',
  ]);
  const last = world.requests.at(-1)?.messages.at(-1);
  expect(last?.content.map((block) => block.type)).toEqual(['result', 'result', 'text']);
  expect(world.log).toEqual(['delivered 1', 'delivered 2', 'idle end']);
});

test('M5: interrupt mail aborts the stream; nothing of it is kept, and the next request has the mail', async () => {
  const world = new World({
    model: `
  - on: [{ when: { mail: { contains: stop } }, once: true, answer: { text: Stopping. } }]
    turns: [{ text: A long thought, delay: 1m }]
`,
  });
  world.assign('t');
  world.start();
  await world.clock.advance(10);
  world.send('stop that', { lane: 'interrupt' });
  await world.settle();
  expect(world.clock.monotonicMs()).toBe(10);
  expect(world.transcript()).toEqual(['mail Do t. + stop that', 'answer Stopping.']);
  expect(world.log).toEqual(['delivered 1', 'delivered 2', 'idle end']);
});

test('M5: interrupt mail cuts a running command and closes what was left, unrun', async () => {
  const world = new World({
    model: `
  - on: [{ when: { mail: { contains: stop } }, answer: { text: Stopping. } }]
    turns: [{ calls: [{ bash: { command: sleep } }, { write_file: { path: x, content: x } }, { list_dir: {} }] }]
`,
  });
  world.onBash = () => new Promise(() => undefined);
  world.assign('t');
  world.start();
  await world.clock.advance(10);
  world.send('stop that', { lane: 'interrupt' });
  await world.settle();
  expect(world.transcript()).toEqual([
    'mail Do t.',
    'answer [bash] [write_file] [list_dir]',
    '  bash: ! interrupted by mail',
    '  write_file: ! interrupted by mail; not run',
    '  list_dir: ! interrupted by mail; not run',
    'mail stop that',
    'answer Stopping.',
  ]);
  expect(world.tree.log).toEqual([]);
});

test('M5: interrupt mail cuts a read and a permit that waits for somebody', async () => {
  const world = new World({
    files: { a: 'x' },
    model: `
  - turns:
      - { calls: [{ read_file: { path: a } }, { read_file: { path: a } }] }
      - { calls: [{ write_file: { path: b, content: x } }] }
      - { text: Enough. }
`,
  });
  world.tree.onRead = () => new Promise(() => undefined);
  world.onPermit = () => new Promise(() => undefined);
  world.assign('t');
  world.start();
  await world.clock.advance(10);
  world.send('one', { lane: 'interrupt' });
  await world.clock.advance(10);
  world.send('two', { lane: 'interrupt' });
  await world.settle();
  expect(world.transcript()).toEqual([
    'mail Do t.',
    'answer [read_file] [read_file]',
    '  read_file: ! interrupted by mail',
    '  read_file: ! interrupted by mail',
    'mail one',
    'answer [write_file]',
    '  write_file: ! interrupted by mail; not run',
    'mail two',
    'answer Enough.',
  ]);
  expect(world.tree.log).toEqual([]);
});

test('bulk mail waits until nothing else is to be done', async () => {
  const world = new World({
    model: '  - turns: [{ calls: [{ bash: { command: x } }] }, { text: Done. }, { text: Nice. }]',
  });
  world.onBash = async () => {
    world.send('50 %', { lane: 'bulk' });
    return { ok: true, text: '' };
  };
  world.assign('t');
  await world.settle();
  expect(world.transcript().slice(3)).toEqual(['answer Done.', 'mail 50 %', 'answer Nice.']);
});

test('check_inbox brings nothing twice', async () => {
  const world = new World({
    model:
      '  - turns: [{ calls: [{ bash: { command: x } }, { check_inbox: {} }] }, { text: Done. }]',
  });
  world.onBash = async () => {
    world.send('later', { lane: 'bulk' });
    return { ok: true, text: '' };
  };
  world.assign('t');
  await world.settle();
  expect(world.transcript().slice(3)).toEqual([
    expect.stringMatching(
      /^ {2}check_inbox: 1 new message follows after the results of your calls: \/ - #2 from user · chat.message: later \/ 1 seen before/,
    ),
    'mail later',
    'answer Done.',
  ]);
});

test('L9: neighbouring reads run side by side, changes in order', async () => {
  const world = new World({
    files: { a: 'a', b: 'b' },
    model: `
  - turns:
      - calls: [{ read_file: { path: a } }, { read_file: { path: b } }, { write_file: { path: a, content: c } }, { read_file: { path: a } }]
      - { text: Done. }
`,
  });
  let open = 0;
  let most = 0;
  world.tree.onRead = async () => {
    open += 1;
    most = Math.max(most, open);
    await world.clock.sleep(5);
    open -= 1;
  };
  world.assign('t');
  await world.settle();
  expect(most).toBe(2);
  expect(world.clock.monotonicMs()).toBe(10);
  expect(world.transcript().slice(2, 6)).toEqual([
    '  read_file:     1\ta',
    '  read_file:     1\tb',
    '  write_file: replaced a (1 bytes)',
    '  read_file:     1\tc',
  ]);
});

test('invalid parameters, unknown tools, refusals and failures go back to the model, which goes on', async () => {
  const world = new World({
    files: { a: 'x x' },
    rules: [{ id: 'r', effect: 'deny', tool: 'glob', reason: 'no globs' }],
    model: `
  - turns:
      - calls:
          - { read_file: { path: a, lines: 1 } }
          - { read_fil: { path: a } }
          - { edit_file: { path: a, old_text: x, new_text: y } }
          - { read_file: { path: ../x } }
          - { write_file: { path: .git/hooks/x, content: x } }
          - { glob: { pattern: "*" } }
          - { get_task: { id: a } }
          - { list_tasks: {} }
      - { calls: [{ write_file: { path: a, content: z } }] }
      - { text: Done. }
`,
  });
  let asked = 0;
  world.onPermit = async (tool) => {
    asked += 1;
    return tool === 'write_file'
      ? { type: 'refused', reason: 'ask me first' }
      : { type: 'permitted' };
  };
  world.assign('t');
  await world.settle();
  expect(world.transcript()).toMatchInlineSnapshot(`
    [
      "mail Do t.",
      "answer [read_file] [read_fil] [edit_file] [read_file] [write_file] [glob] [get_task] [list_tasks]",
      "  read_file: ! read_file was not run, its parameters are invalid: / - lines: unknown parameter",
      "  read_fil: ! unknown tool "read_fil"; did you mean read_file?",
      "  edit_file: ! a: old_text is there 2 times (lines 1, 1): give more of its surroundings, or set replace_all",
      "  read_file: ! refused: "../x" leads out of your tree",
      "  write_file: ! refused: git metadata (.git) is protected",
      "  glob: ! refused: no globs",
      "  get_task: ! refused: the rule "no" says so",
      "  list_tasks: ! failed: no list_tasks here (try later)",
      "answer [write_file]",
      "  write_file: ! refused: ask me first",
      "answer Done.",
    ]
  `);
  expect(asked).toBe(2);
  expect(world.tree.text('a')).toBe('x x');
});

test('L12: a turn that nobody wrote is reported as stuck; only new mail sets the agent going again', async () => {
  const world = new World({ model: '  - turns: [{ text: one }]' });
  world.assign('t');
  await world.settle();
  world.send('go on');
  await world.settle();
  expect(world.log.at(-1)).toMatch(/^stuck scripted\/no-turn: demo.yaml: actor ada .* on task t/);
  await world.clock.advance(60_000);
  expect(world.requests).toHaveLength(2);
  expect(world.allSeen()).toBe(false);
});

test('L12: the turns of an attempt are bounded, also over a restart, and a rework has new ones', async () => {
  const world = new World({
    turns: 3,
    model: `
  - turns: [{ text: unused }]
    on: [{ when: { result: { tool: bash } }, answer: { calls: [{ bash: { command: x } }] } }, { when: { mail: {} , text: { contains: Do } }, answer: { calls: [{ bash: { command: x } }] } }]
`.replace('mail: {} , ', ''),
  });
  let count = 0;
  world.onBash = async () => ({ ok: true, text: String((count += 1)) });
  world.crashes = [{ at: 2, when: 'after' }];
  world.assign('t');
  await world.settle();
  expect(world.log.at(-1)).toBe('stuck agent/turn-limit: ada has used its 3 turns');
  expect(world.incarnations).toBe(2);
  expect(world.transcript().filter((line) => line.startsWith('answer'))).toHaveLength(3);
  world.send('Do it again', { type: 'task.rework' });
  await world.settle();
  expect(world.transcript().filter((line) => line.startsWith('answer'))).toHaveLength(6);
});

test('L12: the same call with the same result for ever is a loop', async () => {
  const world = new World({
    model: `
  - turns: []
    otherwise: { calls: [{ bash: { command: ls } }] }
`,
  });
  world.assign('t');
  await world.settle();
  expect(world.log.at(-1)).toMatch(/^stuck agent\/loop: ada made the same call 8 times/);
  expect(world.effects).toHaveLength(8);
});

test('a model call that fails for a passing reason is tried again, with growing waits', async () => {
  let tries = 0;
  const provider: Provider = {
    name: 'flaky',
    async *stream(): AsyncGenerator<ProviderEvent> {
      tries += 1;
      if (tries === 1) throw new Error('socket closed');
      if (tries < 4) yield { type: 'error', code: 'x/busy', message: 'busy', retryable: true };
      else
        yield {
          type: 'end',
          content: [{ type: 'text', text: 'ok' }],
          stop: 'end',
          usage: NO_USAGE,
        };
    },
  };
  const world = new World({ model: provider });
  world.assign('t');
  await world.settle();
  expect(world.transcript()).toEqual(['mail Do t.', 'answer ok']);
  expect(world.clock.monotonicMs()).toBe(7000);
  const dead = new World({
    model: {
      name: 'dead',
      async *stream(): AsyncGenerator<ProviderEvent> {
        yield { type: 'error', code: 'x/busy', message: 'busy', retryable: true };
      },
    },
  });
  dead.assign('t');
  await dead.settle();
  expect(dead.log.at(-1)).toBe('stuck x/busy: busy (given up after 9 tries)');
  expect(dead.allSeen()).toBe(false);
});

test('a provider that does not listen to an abort is left behind', async () => {
  let calls = 0;
  const world = new World({
    model: {
      name: 'deaf',
      async *stream(): AsyncGenerator<ProviderEvent> {
        calls += 1;
        if (calls === 1) await new Promise(() => undefined);
        yield { type: 'end', content: [], stop: 'refusal', usage: NO_USAGE };
      },
    },
  });
  world.assign('t');
  world.start();
  await world.clock.advance(10);
  world.send('hey', { lane: 'interrupt' });
  await world.settle();
  expect(world.transcript()).toEqual(['mail Do t. + hey', 'answer ']);
  expect(world.log.at(-1)).toBe('idle refusal');
});

test('an id of a call that was used before is an error of the provider', async () => {
  const world = new World({
    model: {
      name: 'twice',
      async *stream(): AsyncGenerator<ProviderEvent> {
        const call = { type: 'call' as const, id: asCallId('same'), name: 'list_dir', input: {} };
        yield { type: 'end', content: [call, call], stop: 'calls', usage: NO_USAGE };
      },
    },
  });
  world.assign('t');
  await world.settle();
  expect(world.log.at(-1)).toMatch(/^stuck agent\/call-id/);
});

test('a subagent begins with its prompt and ends with its first answer without calls', async () => {
  const model = `
  - turns: [{ calls: [{ list_dir: {} }] }, { text: "There is one file." }]
`;
  const world = new World({
    kind: 'subagent',
    prompt: 'Count the files.',
    files: { a: '' },
    model,
  });
  world.workplace = { task: null, root: '/tree', writable: false, fence: 0 };
  expect(await world.settle()).toEqual({ kind: 'finished', text: 'There is one file.' });
  expect(world.requests[0]?.messages[0]?.content[0]).toEqual({
    type: 'text',
    text: 'Count the files.',
  });
  const stuck = new World({ kind: 'subagent', prompt: 'x', model: '  - turns: []' });
  expect(await stuck.settle()).toMatchObject({ kind: 'stuck', code: 'scripted/no-turn' });
});

test('after a stop the agent ends as stopped, whatever it was doing', async () => {
  for (const turn of ['{ text: x, delay: 1m }', '{ calls: [{ bash: { command: x } }] }']) {
    const world = new World({ model: `  - turns: [${turn}]` });
    world.onBash = () => new Promise(() => undefined);
    world.assign('t');
    world.start();
    await world.clock.advance(10);
    expect(await world.stop()).toEqual({ kind: 'stopped' });
  }
});

test('L7: a conversation whose task was taken away does not go on by itself', async () => {
  const world = new World({
    model: '  - turns: [{ calls: [{ bash: { command: x } }] }, { text: Never. }]',
  });
  world.onBash = async () => {
    world.workplace = { task: null, root: '/view', writable: false, fence: 0 };
    return { ok: true, text: '' };
  };
  world.assign('t');
  await world.settle();
  expect(world.log.at(-1)).toBe('idle end');
  expect(world.requests).toHaveLength(1);
});

test('a claimed task is worked on at once, in its tree', async () => {
  const world = new World({
    model: `
  - task: none
    turns: [{ calls: [{ write_file: { path: a, content: x } }, { claim_task: { id: t } }] }]
  - task: t
    turns: [{ calls: [{ write_file: { path: a, content: x } }] }, { text: Done. }]
`,
  });
  world.workplace = { task: null, root: '/view', writable: false, fence: 0 };
  world.send('take something');
  await world.settle();
  expect(world.transcript()).toEqual([
    'mail take something',
    'answer [write_file] [claim_task]',
    '  write_file: ! refused: you have no task: claim one first',
    '  claim_task: yours',
    'answer [write_file]',
    '  write_file: created a (1 bytes)',
    'answer Done.',
  ]);
});
