/** The agent loop through the built command line: ends without progress, cut answers, loops, files of all kinds, subagents. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MailRow, TaskRow } from '../../src/protocol/index.ts';
import { answersIn, type ModelRun, openModelRun } from '../support/model-run.ts';
import type { ModelCall } from '../support/model-server/answer.ts';
import { makeWorld, type World } from './cli-world.ts';

let world: World;
let run: ModelRun;

beforeEach(() => {
  world = makeWorld();
});
afterEach(async () => {
  await run.close();
  world.remove();
});

const TEAM = `version: 1
name: loop
model: scripted/script.yaml
limits: { parallel: 5, depth: 2 }
agents:
  cutter: { prompt: You cut., model: anthropic/claude-sonnet-5-5 }
  scout: { prompt: You look. }
  asking: { prompt: You ask. }
members:
  teammates:
    - { name: idler, agent: implementer }
    - { name: looper, agent: reviewer }
    - { name: filer, agent: planner }
    - { name: asker, agent: asking }
    - { name: cutter, agent: cutter }
tasks:
  - { id: idle, prompt: Rest, agent: implementer, attempts: 1 }
  - { id: loop, prompt: Turn, agent: reviewer, attempts: 1 }
  - { id: files, prompt: Look, agent: planner, attempts: 1 }
  - { id: ask, prompt: Ask, agent: asking, attempts: 1 }
  - { id: cut, prompt: Cut, agent: cutter, attempts: 1 }
permissions: { default: allow }
`;

const SCRIPT = `version: 1
sections:
  - actor: idler
    turns: [{ text: I think that is all. }, { text: It is. }]
  - actor: looper
    turns: []
    otherwise: { calls: [{ read_file: { path: README.md } }] }
  - actor: filer
    turns:
      - calls:
          - read_file: { path: picture.png }
          - read_file: { path: blob.bin }
          - read_file: { path: huge.txt, offset: 1200000, limit: 2 }
          - grep: { pattern: needle }
          - glob: { pattern: "**/*.txt" }
      - calls: [{ complete_task: { summary: Seen } }]
  - actor: asker
    turns:
      - calls: [{ task: { prompt: OUTER, agent: scout } }]
      - calls: [{ task: { prompt: BEHIND, agent: scout, background: true } }]
      - any:
          - when: { mail: { contains: from behind } }
            calls: [{ complete_task: { summary: Asked at once } }]
          - text: I wait for it.
      - calls: [{ complete_task: { summary: Asked } }]
    otherwise: { text: Good. }
  - profile: scout
    when: { text: { contains: OUTER } }
    turns:
      - calls: [{ task: { prompt: INNER, agent: scout } }]
      - any:
          - when: { result: { tool: task, ok: true, contains: from the inside } }
            text: from the outside
  - profile: scout
    when: { text: { contains: INNER } }
    turns:
      - calls: [{ task: { prompt: TOO DEEP, agent: scout } }]
      - any:
          - when: { result: { tool: task, ok: false, contains: you do not have the tool } }
            text: from the inside
  - profile: scout
    when: { text: { contains: BEHIND } }
    turns:
      - { delay: 1500ms, text: from behind }
`;

interface Shown {
  readonly type: string;
  readonly tool?: string;
  readonly ok?: boolean;
  readonly text?: string;
}

async function results(actor: string): Promise<Shown[]> {
  const { stdout } = await run.troupe('session', actor, '--json');
  const { entries } = JSON.parse(stdout) as { entries: Shown[] };
  return entries.filter((entry) => entry.type === 'result');
}

test('ends without progress, loops and cut answers have reasons; files are what they are; helpers are waited for', async () => {
  run = await openModelRun(world, (seen) => {
    if (answersIn(seen) === 0) {
      const raw = '{"path": "half.txt", "content": "the first ha';
      const call = { tool: 'write_file', input: {}, raw };
      return { text: 'I write.', calls: [call], stop: 'length' };
    }
    const edit = (old_text: string, new_text: string): object => ({ old_text, new_text });
    const edits = (...all: object[]): ModelCall => ({
      tool: 'multi_edit',
      input: { path: 'text.md', edits: all },
    });
    if (answersIn(seen) === 1) return { calls: [edits(edit('one', 'uno'), edit('three', 'tre'))] };
    if (answersIn(seen) === 2)
      return { calls: [{ tool: 'bash', input: { command: 'cat text.md; ls' } }] };
    if (answersIn(seen) === 3)
      return { calls: [edits(edit('one', 'uno'), edit('uno two', 'due'))] };
    return answersIn(seen) === 4
      ? { calls: [{ tool: 'complete_task', input: { summary: 'Cut' } }] }
      : { text: 'Good.' };
  });
  world.write('../team.yaml', TEAM);
  world.write('../script.yaml', SCRIPT);
  world.write('text.md', 'one two\n');
  world.write('picture.png', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0]));
  world.write('blob.bin', new Uint8Array([1, 0, 2]));
  world.write('huge.txt', 'a line 10\n'.repeat(1_300_000));
  world.write('.gitignore', 'made/\n');
  world.write('src/kept.txt', 'needle\n');
  world.write('made/left-out.txt', 'needle\n');
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Files');
  // Made in the tree of each task, where git leaves it out.
  const setup = 'worktree: { setup: ["mkdir made && echo needle > made/left-out.txt"] }\n';
  world.write('../team.yaml', TEAM + setup);
  const ran = await run.troupe('run', '../team.yaml');
  expect(ran.code, ran.stdout + ran.stderr).toBe(1);
  expect(run.server.rejections).toEqual([]);

  const tasks = JSON.parse((await run.troupe('tasks', '--json')).stdout) as TaskRow[];
  const reasonOf = (id: string): string => tasks.find((task) => task.id === id)?.reason?.text ?? '';
  expect(tasks.map(({ id, state }) => `${id} ${state}`).toSorted()).toEqual([
    'ask done',
    'cut done',
    'files done',
    'idle failed',
    'loop failed',
  ]);
  expect(reasonOf('idle')).toContain('idler stopped without completing or failing the task');
  expect(reasonOf('loop')).toContain('the same call 8 times in a row, always with the same result');
  const nudges = async (actor: string): Promise<string[]> => {
    const { stdout } = await run.troupe('tail', actor, '--json');
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as MailRow);
    return rows.flatMap((row) => (row.type === 'task.nudge' ? [JSON.stringify(row)] : []));
  };
  expect(await nudges('idler')).toEqual([
    expect.stringContaining('You ended your turn, but task idle is not finished'),
  ]);
  // It waits for its helper: nobody urges it.
  expect(await nudges('asker')).toEqual([]);

  const asked = await results('asker');
  expect(asked[0]).toMatchObject({ ok: true, text: expect.stringContaining('from the outside') });
  expect(asked[1]?.text).toContain('its answer comes by mail');
  expect((await run.troupe('tail', 'asker')).stdout).toContain('from behind');

  // What is called side by side is recorded as it comes.
  const files = (await results('filer')).map(({ text }) => text ?? '').join('\n');
  expect(files).toContain('picture.png is a PNG image, not text');
  expect(files).toContain('blob.bin is a binary file');
  expect(files).toContain('1200000\ta line 10\n1200001\ta line 10');
  expect(files).toContain('src/kept.txt:1: needle');
  expect(files).toContain('huge.txt\nsrc/kept.txt');
  expect(files).not.toContain('left-out');

  const [cut, failed, seen] = (await results('cutter')).map(({ text }) => text ?? '');
  expect(cut).toContain('write_file was not run');
  expect(failed).toContain('text.md: nothing was changed, edits[1] can not be made');
  expect(seen).toContain('one two');
  expect(seen).not.toContain('half.txt');
  expect(world.troupe('diff', 'cut').stdout).toMatch(/^-one two\n\+due$/m);
});
