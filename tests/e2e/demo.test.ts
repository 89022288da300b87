/** `troupe demo`: the built command in a folder of its own, and what git and the journals say afterwards. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MailRow, RunRow, TaskRow } from '../../src/protocol/index.ts';
import { type Ended, PACKAGE, Place, parseLines } from './demo-world.ts';

describe('the demo, from nothing', () => {
  const place = new Place();
  const repo = join(place.root, 'my demo é');
  let demo: Ended;
  let run: RunRow;
  let tasks: TaskRow[];
  let mail: MailRow[];

  beforeAll(async () => {
    demo = await place.troupe(place.root, 'demo', 'my demo é');
    const [first] = await place.runs(repo);
    if (first === undefined) throw new Error(`no run:\n${demo.stdout}\n${demo.stderr}`);
    run = first;
    tasks = await place.tasks(repo);
    mail = await place.mail(repo);
  }, 90_000);
  afterAll(() => place.remove());

  it('does all tasks and says so', () => {
    expect(demo).toMatchObject({ code: 0, stderr: '' });
    expect(run.state).toBe('done');
    expect(tasks.map((task) => [task.id, task.state])).toEqual(
      ['table', 'truncate', 'slugify', 'wrap', 'dedent', 'api', 'report', 'readme'].map((id) => [
        id,
        'done',
      ]),
    );
  });

  it('ends with the tests passing on the integration branch, where they failed before', () => {
    expect(place.npmTest(place.unpack(repo, 'main'))).not.toBe(0);
    expect(place.npmTest(place.unpack(repo, run.branch))).toBe(0);
  });

  it('T4: a gate failed, and the work was done again by the one who did it', () => {
    expect(tasks.find((task) => task.id === 'table')).toMatchObject({ attempt: 2, owner: 'ada' });
    const rework = mail.find((row) => row.type === 'task.rework' && row.task === 'table');
    expect(rework).toMatchObject({ to: 'ada', state: 'seen' });
    expect(rework?.body.text).toContain('numbers count by their digits');
  });

  it('W: one merge was in conflict, and both sides are there', () => {
    const reworks = mail.filter((row) => row.type === 'task.rework' && row.task !== 'table');
    expect(reworks).toHaveLength(1);
    expect(['wrap', 'dedent']).toContain(reworks[0]?.task);
    expect(reworks[0]?.body.text).toMatch(/<<<<<<< [^]*>>>>>>> /);
    const list = place.git(repo, 'show', `${run.branch}:src/index.js`);
    expect(list).toContain("export { dedent } from './dedent.js';");
    expect(list).toContain("export { wrap } from './wrap.js';");
  });

  it('M5: a teammate was told to change course, and its command was cut', () => {
    const told = mail.filter((row) => row.lane === 'interrupt');
    expect(told).toMatchObject([{ from: 'lead', to: 'cy', state: 'seen' }]);
    const session = join(repo, '.git/troupe/runs', run.id, 'views/sessions/cy.jsonl');
    expect(readFileSync(session, 'utf8')).toContain('interrupted by mail before it ended');
    // Not waited for: it would have taken five minutes.
    expect(Date.parse(run.endedAt ?? '') - Date.parse(run.startedAt)).toBeLessThan(240_000);
  });

  it('has tasks side by side, and none before what it needs', () => {
    const first = (type: string, task: string): number =>
      mail.find((row) => row.type === type && row.task === task)?.seq ?? Number.NaN;
    const assigned = (task: string): number => first('task.assign', task);
    const finished = (task: string): number => first('task.finished', task);
    for (const [one, other] of [
      ['table', 'truncate'],
      ['wrap', 'dedent'],
    ] as const) {
      expect(assigned(one)).toBeLessThan(finished(other));
      expect(assigned(other)).toBeLessThan(finished(one));
    }
    for (const { id, needs } of tasks.filter((task) => task.id !== 'api')) {
      for (const need of needs) expect(assigned(id), id).toBeGreaterThan(finished(need));
    }
  });

  it('M3: all mail was seen', () => {
    expect(mail.filter((row) => row.state !== 'seen')).toEqual([]);
  });

  it('leaves the checkout as the demo made it, with an identity of its own', () => {
    expect(place.git(repo, 'status', '--porcelain')).toBe('');
    expect(place.git(repo, 'rev-parse', 'HEAD')).toBe(run.base);
    expect(place.git(repo, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('main');
    expect(place.git(repo, 'rev-list', '--count', 'HEAD')).toBe('1');
    expect(place.git(repo, 'config', '--local', 'user.name')).toBe('Troupe Demo');
    const example = join(PACKAGE, 'examples/01-fix-and-document');
    for (const [ours, theirs] of [
      ['team.yaml', 'team.yaml'],
      ['src/table.js', 'repo/src/table.js'],
    ] as const) {
      expect(readFileSync(join(repo, ours), 'utf8')).toBe(
        readFileSync(join(example, theirs), 'utf8'),
      );
    }
  });

  it('leaves no process, tree, lock or half-made folder', () => {
    expect(place.leftovers(repo, run.id)).toEqual([]);
  });

  it('prints a tour whose commands work', async () => {
    const tour = demo.stdout.slice(demo.stdout.indexOf('How it went'));
    expect(tour).toContain('lead → cy, in the middle of its turn');
    expect(tour).toContain("cd 'my demo é'");
    const commands = [...tour.matchAll(/^ {2}troupe (.+?)(?: {3}| &&|$)/gm)].map(
      ([, args]) => args,
    );
    expect(commands.length).toBeGreaterThanOrEqual(5);
    for (const args of commands) {
      if (args === undefined || args.startsWith('merge') !== args.endsWith('--dry-run')) continue;
      expect(await place.troupe(repo, ...args.split(' ')), args).toMatchObject({ code: 0 });
    }
    expect(place.git(repo, 'rev-parse', 'HEAD')).toBe(run.base);
  });

  it('explains itself when it is started again, and does nothing', async () => {
    const again = await place.troupe(place.root, 'demo', 'my demo é');
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('This demo has run before');
    expect(again.stdout).toContain("rm -rf 'my demo é'");
    expect(await place.runs(repo)).toHaveLength(1);
    const { stdout } = await place.troupe(place.root, 'demo', 'my demo é', '--json');
    expect(parseLines(stdout)).toMatchObject([{ id: run.id, state: 'done', tasks: { length: 8 } }]);
  });

  it('ends with the merge that the tour names', async () => {
    const merged = await place.troupe(repo, 'merge', run.id);
    expect(merged.code).toBe(0);
    expect(place.npmTest(repo)).toBe(0);
  });
});

describe('a folder that is something else', () => {
  it('is left alone, with exit 2', async () => {
    const place = new Place();
    try {
      mkdirSync(join(place.root, 'mine'));
      writeFileSync(join(place.root, 'mine/notes.txt'), 'mine\n');
      writeFileSync(join(place.root, 'file'), 'mine\n');
      for (const [name, why] of [
        ['mine', 'is not empty, and no demo made it'],
        ['file', 'is a file'],
        ['file/below', 'is a file'],
      ] as const) {
        const refused = await place.troupe(place.root, 'demo', name);
        expect(refused, name).toMatchObject({ code: 2, stdout: '' });
        expect(refused.stderr).toContain(why);
        const json = await place.troupe(place.root, 'demo', name, '--json');
        expect(parseLines(json.stdout)).toMatchObject([{ error: { code: 'cli/usage' } }]);
      }
      expect(readdirSync(join(place.root, 'mine'))).toEqual(['notes.txt']);
      expect(existsSync(join(place.root, 'home/.local'))).toBe(false);
    } finally {
      place.remove();
    }
  });
});
