import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionEntry } from '../../../src/protocol/index.ts';
import { World } from './world.ts';

type Crash = { readonly at: number; readonly when: 'before' | 'after' };

function makeWorld(crashes: readonly Crash[]): World {
  const world = new World({
    files: { 'a.js': 'let a = 1;\nlet b = 1;\n' },
    model: `
  - task: parser
    on:
      - { when: { mail: { contains: rename } }, once: true, answer: { text: Renaming., calls: [{ edit_file: { path: a.js, old_text: let b, new_text: let c } }] } }
    turns:
      - { text: Reading., calls: [{ read_file: { path: a.js } }, { grep: { pattern: let } }] }
      - calls:
          - { write_file: { path: b.js, content: "b\\n" } }
          - { edit_file: { path: a.js, old_text: let a = 1, new_text: let a = 12 } }
          - { write_file: { path: b.js, content: "b2\\n" } }
      - calls: [{ bash: { command: npm test } }, { send_message: { to: bo, text: half }}]
      - any:
          - { when: { result: { ok: false } }, calls: [{ fail_task: { reason: broken } }] }
          - { calls: [{ send_message: { to: bo, text: done } }, { complete_task: { summary: fixed } }] }
  - task: none
    turns: [{ text: You are welcome. }]
`,
  });
  world.crashes = [...crashes];
  let told = false;
  world.onBash = async () => {
    if (!told) world.send('please rename b');
    told = true;
    return { ok: true, text: 'exit 0' };
  };
  world.assign('parser');
  return world;
}

/** Results per call, and calls that ran: each at most once. */
function assertSound(world: World): void {
  const entries: readonly SessionEntry[] = world.journal.map(({ entry }) => entry);
  const results = entries.flatMap((entry) => (entry.type === 'result' ? [entry.call] : []));
  const calls = entries.flatMap((entry) =>
    entry.type === 'answer'
      ? entry.content.flatMap((block) => (block.type === 'call' ? [block.id] : []))
      : [],
  );
  expect(results.toSorted()).toEqual(calls.toSorted());
  expect(new Set(world.ran).size).toBe(world.ran.length);
  expect(world.allSeen()).toBe(true);
  const taken = entries.flatMap((entry) =>
    entry.type === 'mail' ? entry.items.map((item) => item.n) : [],
  );
  expect(taken).toEqual([...new Set(taken)]);
}

async function outcome(crashes: readonly Crash[]): Promise<unknown> {
  const world = makeWorld(crashes);
  expect(await world.settle()).toBe('resting');
  world.send('thanks');
  expect(await world.settle()).toBe('resting');
  assertSound(world);
  expect(world.log.filter((line) => line.startsWith('stuck'))).toEqual([]);
  return {
    files: Object.fromEntries(
      [...world.tree.files.keys()].map((path) => [path, world.tree.text(path)]),
    ),
    sent: world.effects.filter((line) => line.startsWith('to ')),
    ended: world.effects.filter((line) => line.endsWith('_task')),
    last: world.transcript().at(-1),
  };
}

test('without a crash the story ends as written', async () => {
  expect(await outcome([])).toEqual({
    files: { 'a.js': 'let a = 12;\nlet c = 1;\n', 'b.js': 'b2\n' },
    sent: ['to bo: half', 'to bo: done'],
    ended: ['complete_task'],
    last: 'answer You are welcome.',
  });
});

test('L4 L9: after a crash at any boundary, before or after its record, it ends the same', async () => {
  const expected = await outcome([]);
  for (let at = 1; at <= 24; at += 1) {
    for (const when of ['before', 'after'] as const) {
      expect(await outcome([{ at, when }]), `crash ${when} ${at}`).toEqual(expected);
    }
  }
});

test('L4 L9: and after many crashes', async () => {
  const expected = await outcome([]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 7 }), fc.constantFrom('before', 'after')), {
        maxLength: 8,
      }),
      async (steps) => {
        let at = 0;
        const crashes = steps.map(([step, when]) => ({ at: (at += step), when }));
        expect(await outcome(crashes)).toEqual(expected);
      },
    ),
    { numRuns: 60 },
  );
});
