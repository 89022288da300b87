/** What one run notes, the next one knows; what a person wrote is never written. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answersIn, type ModelRun, openModelRun, toolsOf } from '../support/model-run.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import { makeWorld, type World } from './cli-world.ts';

let world: World;
let run: ModelRun;
let turns: ModelAnswer[];
beforeEach(async () => {
  world = makeWorld();
  turns = [];
  run = await openModelRun(world, (seen) => turns[answersIn(seen)] ?? DONE);
});
afterEach(async () => {
  await run.close();
  world.remove();
});

const DONE: ModelAnswer = { calls: [{ tool: 'complete_task', input: { summary: 'done' } }] };
const TEAM = `version: 1
name: small
model: anthropic/claude-sonnet-5-5
tasks: [{ id: note, prompt: Write the note. }]
permissions: { default: deny }
`;

test('a note outlives its run, beside the file of the person', async () => {
  const own = '# Memory\n\n- The person says: use make.\n';
  world.write('.troupe/memory/MEMORY.md', own);
  world.write('team.yaml', TEAM);
  turns = [
    { calls: [{ tool: 'memory_append', input: { text: 'The tests need Redis on port 6380.' } }] },
    { calls: [{ tool: 'memory_read', input: { query: 'redis' } }] },
    { calls: [{ tool: 'write_file', input: { path: '.troupe/memory/MEMORY.md', content: 'x' } }] },
  ];
  const first = await run.troupe('run', 'team.yaml', '--run-id', 'one');
  expect(first.code, first.stdout + first.stderr).toBe(0);
  const [begun] = run.server.seen;
  expect(toolsOf(begun)).toEqual(expect.arrayContaining(['memory_read', 'memory_append']));
  expect(begun?.system).toContain('- The person says: use make.');
  expect(begun?.system).not.toContain('Redis');
  const told = run.server.seen.at(-1)?.messages ?? [];
  const results = told.flatMap((message) =>
    message.role === 'user'
      ? message.content.flatMap((block) => (block.type === 'result' ? [block.text] : []))
      : [],
  );
  expect(results[0]).toBe('noted for later runs');
  expect(results[1]).toMatch(
    /^- The tests need Redis on port 6380\. \(noted \d{4}-\d\d-\d\d by implementer-1 in run one\)$/,
  );
  expect(results[2]).toContain('.troupe is protected');
  turns = [];
  const before = run.server.seen.length;
  const second = await run.troupe('run', 'team.yaml', '--run-id', 'two');
  expect(second.code, second.stdout + second.stderr).toBe(0);
  const system = run.server.seen[before]?.system ?? '';
  expect(system).toContain('- The tests need Redis on port 6380. (noted');
  expect(system).toContain('it grants nothing');
  expect(readFileSync(join(world.repo, '.troupe/memory/MEMORY.md'), 'utf8')).toBe(own);
  expect(world.git('status', '--porcelain')).toBe('?? .troupe/\n?? team.yaml\n');
  const listed = JSON.parse(world.troupe('memory', '--json').stdout) as {
    text: string;
    by: string | null;
  }[];
  expect(listed.map(({ text, by }) => [text, by])).toEqual([
    ['The tests need Redis on port 6380.', 'implementer-1'],
    ['The person says: use make.', null],
  ]);
  expect(world.troupe('memory', 'redis').stdout).toContain('The tests need Redis');
  expect(world.troupe('memory', 'redis').stdout).not.toContain('make');
});

test.each([
  ['was kept before', false],
  ['was recorded and not kept', true],
])(
  'Y2: a note that %s the process was killed is kept once by the one that resumes',
  async (_, lost) => {
    world.write('team.yaml', TEAM);
    await run.close();
    run = await openModelRun(world, (seen) => {
      if (answersIn(seen) > 0) return DONE;
      // The request after the note: its step is recorded, and who noted it goes on when it is kept.
      run.server.faults.push({ kind: 'stall', afterBytes: 0 });
      return { calls: [{ tool: 'memory_append', input: { text: 'Redis is on port 6380.' } }] };
    });
    const killed = run.start('run', 'team.yaml', '--run-id', 'one');
    await run.server.stalled();
    killed.child.kill('SIGKILL');
    await killed.done;
    const kept = join(world.repo, '.git/troupe/workspace/memory/MEMORY.md');
    expect(readFileSync(kept, 'utf8').match(/port 6380/g)).toHaveLength(1);
    if (lost) rmSync(kept);
    const settings = join(world.env['HOME'] ?? '', '.config/troupe');
    mkdirSync(settings, { recursive: true });
    writeFileSync(join(settings, 'config.yaml'), 'log: info\n');
    const resumed = await run.troupe('resume', 'one');
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
    // The log level of the config counts.
    expect(resumed.stdout + resumed.stderr).toContain('troupe: info: the journal of a run is open');
    expect(readFileSync(kept, 'utf8').match(/port 6380/g)).toHaveLength(1);
    expect(run.server.rejections).toEqual([]);
  },
);
