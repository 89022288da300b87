/** `troupe doctor` on real journals: what is lost is named with file and line, what is harmless is told as such. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sealJournal } from '../../src/journal/index.ts';
import { NodeFiles } from '../../src/platform/index.ts';
import { makeWorld, type World } from './cli-world.ts';

const TEAM = `version: 1
name: two
tasks:
  - { id: one, run: echo 1 > one.txt }
  - { id: two, run: echo 2 > two.txt, needs: [one] }
`;

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly repair: string;
}

const SEGMENT = '000000000001.jsonl';
let world: World;

beforeEach(() => {
  world = makeWorld();
  world.write('team.yaml', TEAM);
  const run = world.troupe('run', 'team.yaml', '--run-id', 'd1');
  expect(run.code, run.stderr).toBe(0);
});

afterEach(() => world.remove());

const journal = (): string => join(world.repo, '.git/troupe/runs/d1/journal', SEGMENT);
const linesOf = (): string[] => readFileSync(journal(), 'utf8').split('\n');

function doctor(): {
  readonly code: number | null;
  readonly bad: Finding[];
  readonly all: Finding[];
} {
  const { code, stdout } = world.troupe('doctor', '--json');
  const all = JSON.parse(stdout) as Finding[];
  return { code, all, bad: all.filter(({ ok }) => !ok) };
}

test('all is well: exit 0, each journal counted', () => {
  const { code, all, bad } = doctor();
  expect({ code, bad }).toEqual({ code: 0, bad: [] });
  const checks = all.map(({ check }) => check);
  for (const check of ['workspace journal', 'journal of d1', 'views of d1', 'spool', 'sandbox']) {
    expect(checks).toContain(check);
  }
  expect(Object.keys(all[0] ?? {})).toEqual(['check', 'ok', 'detail', 'repair']);
  expect(world.troupe('doctor').stdout).toMatch(/^ok {4}journal of d1: \d+ records in 1 file$/m);
});

test('J17: all reading commands say of a packed run what they said before', async () => {
  const commands = [
    ['doctor'],
    ['runs', '--json'],
    ['ps', '--json'],
    ['tasks', '--json'],
    ['tail', '--json'],
    ['events'],
    ['diff'],
    ['mail', 'dead'],
  ];
  const answers = (): unknown[] =>
    commands.map((args) => {
      const { code, stdout } = world.troupe(...args);
      return [args[0], code, stdout];
    });
  const before = answers();
  await sealJournal({ files: new NodeFiles(), directory: dirname(journal()) });
  expect(existsSync(journal())).toBe(false);
  expect(answers()).toEqual(before);
  expect(world.troupe('resume', 'd1').stderr).toContain('has ended');
  expect(answers()).toEqual(before);
});

test('J5: a flipped byte is a named record, with file and line', () => {
  const lines = linesOf();
  const at = lines.findIndex((line, index) => index > 2 && line.includes('"at":"2'));
  const rotten = lines.with(at, (lines[at] ?? '').replace('"at":"2', '"at":"9'));
  writeFileSync(journal(), rotten.join('\n'));
  const { code, bad } = doctor();
  expect(code).toBe(1);
  expect(bad).toHaveLength(1);
  expect(bad[0]?.detail).toMatch(
    new RegExp(`^${SEGMENT}:${at + 1}: Record ${at + 1} is lost \\(checksum, \\d+`),
  );
  expect(bad[0]?.repair).toContain('a copy of the file');
  expect(world.troupe('doctor').stdout).toContain(`BAD   journal of d1: ${SEGMENT}:${at + 1}:`);
});

test('J5: each of several losses is named', () => {
  const lines = linesOf();
  const rotten = lines.with(2, '\0'.repeat(200)).with(5, 'not a record');
  writeFileSync(journal(), rotten.join('\n'));
  const { code, bad } = doctor();
  expect(code).toBe(1);
  // With a line its sum is gone, which the next record is chained to: it can't be told from a foreign one.
  expect(bad.map(({ detail }) => detail.split(' (')[0])).toEqual([
    `${SEGMENT}:3: Records 3 to 4 are lost`,
    `${SEGMENT}:6: Records 6 to 7 are lost`,
  ]);
});

test('a torn end is harmless, a journal that was cut is not: views and snapshots know more', () => {
  const lines = linesOf();
  writeFileSync(journal(), `${lines.join('\n')}{"s":999,"d":1,"k":"m`);
  expect(doctor()).toMatchObject({ code: 0, bad: [] });
  const view = join(world.repo, '.git/troupe/runs/d1/views/mailboxes/user.jsonl');
  writeFileSync(view, `${JSON.stringify({ v: 1, n: 1, seq: lines.length + 5 })}\n`);
  writeFileSync(journal(), `${lines.slice(0, 4).join('\n')}\n`);
  const { code, bad } = doctor();
  expect(code).toBe(1);
  expect(bad.map(({ detail }) => detail)).toEqual([
    `${SEGMENT}:5: Records 5 to ${lines.length + 5} are lost: the log ends before them, but views/mailboxes/user.jsonl tells of record ${lines.length + 5}.`,
  ]);
});

test('a head that was rewritten, and mail that was refused', () => {
  const lines = linesOf();
  const head = lines[0] ?? '';
  writeFileSync(journal(), lines.with(0, head.replace('"name":"d1"', '"name":"d2"')).join('\n'));
  // Its sum does not fit any more, so it is damage; the record is named.
  expect(doctor().bad[0]?.detail).toContain(`${SEGMENT}:1: Record 1 is lost`);
  writeFileSync(journal(), lines.join('\n'));
  world.write('.git/troupe/spool/refused/env_1.json', '{}');
  expect(doctor().bad).toMatchObject([{ check: 'spool' }]);
  expect(doctor().bad[0]?.detail).toContain('env_1.json');
});

test.each([
  {
    how: 'cut away',
    make: (rest: string) => rest.replaceAll(/./gs, ''),
    place: 'ends before them',
  },
  {
    how: 'nulled',
    make: (rest: string) => '\0'.repeat(rest.length),
    place: 'is damaged from here on',
  },
])(
  'J5: acknowledged records at the very end that were $how are named, not called a torn tail',
  ({ make, place }) => {
    const lines = linesOf();
    const kept = lines.findIndex((line) => line.includes('"task.finished"'));
    const good = `${lines.slice(0, kept).join('\n')}\n`;
    const rest = lines.slice(kept).join('\n');
    writeFileSync(journal(), `${good}${make(rest)}`);
    const damaged = readFileSync(journal());
    const { code, bad } = doctor();
    expect(code).toBe(1);
    expect(bad).toHaveLength(1);
    const told = new RegExp(
      `^${SEGMENT}:${kept + 1}: Records ${kept + 1} to \\d+ are lost: the log ${place}, but snapshots/\\d+.snap tells of record \\d+\\.$`,
    );
    expect(bad[0]?.detail).toMatch(told);
    const tail = world.troupe('tail', '--json');
    expect(tail.code).toBe(0);
    expect(tail.stderr).toMatch(
      new RegExp(`the journal of d1 is damaged: the end of the journal: records ${kept + 1} to `),
    );
    expect(readFileSync(journal()).equals(damaged)).toBe(true);
  },
);

test('J5: a record lost in the middle is told by `troupe tail` too', () => {
  const lines = linesOf();
  writeFileSync(
    journal(),
    lines.with(5, (lines[5] ?? '').replace('"at":"2', '"at":"9')).join('\n'),
  );
  expect(world.troupe('tail').stderr).toContain(
    `the journal of d1 is damaged: ${SEGMENT}:6: record 6 lost (checksum)`,
  );
});
