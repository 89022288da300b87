/** The examples, each in a temporary copy by the built command; what came of it is read with git. (01 is the demo.) */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunRow } from '../../src/protocol/index.ts';
import { type Ended, PACKAGE, Place, parseLines } from './demo-world.ts';

const EXAMPLES = join(PACKAGE, 'examples');

const places: Place[] = [];
afterEach(() => {
  for (const place of places.splice(0)) place.remove();
});

function makePlace(): Place {
  const place = new Place();
  places.push(place);
  return place;
}

/** A repository with these files in one commit. */
function commitAll(place: Place, repo: string, files: Readonly<Record<string, string>> = {}): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    writeFileSync(join(repo, path), content);
  }
  place.git(repo, 'init', '-q', '-b', 'main');
  place.git(repo, 'config', 'user.name', 'Uma User');
  place.git(repo, 'config', 'user.email', 'uma@example.org');
  place.git(repo, 'add', '-A');
  place.git(repo, 'commit', '-q', '-m', 'first');
}

describe('every example', () => {
  it('has a README and a team file that is valid', async () => {
    const place = makePlace();
    const repo = join(place.root, 'repo');
    commitAll(place, repo, { 'a.txt': 'a\n' });
    for (const name of readdirSync(EXAMPLES)) {
      expect(existsSync(join(EXAMPLES, name, 'README.md')), name).toBe(true);
      const checked = await place.troupe(repo, 'check', join(EXAMPLES, name, 'team.yaml'));
      expect(checked, name).toMatchObject({ code: 0, stderr: '' });
    }
  });
});

describe('02-command-graph, on a repository that nobody prepared', () => {
  const tidy = async (place: Place, repo: string): Promise<{ ended: Ended; run: RunRow }> => {
    const team = join(EXAMPLES, '02-command-graph/team.yaml');
    const ended = await place.troupe(place.root, 'run', team, '--workspace', repo, '--json');
    const [run] = parseLines(ended.stdout) as RunRow[];
    if (run === undefined) throw new Error(ended.stderr);
    return { ended, run };
  };

  /** Everything of the user that a run could touch. */
  const mine = (place: Place, repo: string): string[] => [
    place.git(repo, 'status', '--porcelain=v2', '--branch', '--untracked-files=all'),
    place.git(repo, 'diff'),
    place.git(repo, 'diff', '--cached'),
    place.git(repo, 'ls-files', '--stage'),
    readFileSync(join(repo, 'new file.txt'), 'utf8'),
  ];

  const edit = (place: Place, repo: string, file: string): void => {
    writeFileSync(join(repo, file), 'changed by the user   \n');
    writeFileSync(join(repo, 'staged.js'), 'const staged = 1;   \n');
    place.git(repo, 'add', 'staged.js');
    writeFileSync(join(repo, 'new file.txt'), 'not tracked\n');
  };

  it('changes what it should, and nothing of the user', async () => {
    const place = makePlace();
    const repo = join(place.root, 'a repo é');
    mkdirSync(repo);
    symlinkSync('src/code.js', join(repo, 'link.js'));
    commitAll(place, repo, {
      'package.json': '{ "scripts": { "test": "exit 3" } }  ',
      'broken.json': '{ "a": 1,  \n',
      'src/code.js': 'const a = 1;  \nexport default a;',
      'src/template.js': 'export default `a  \nb`;  \n',
      'src/windows.js': 'const b = 1;  \r\nexport default b;\r\n',
      'src/no code.js': 'this is no code  \n',
      'test/fixtures/data.json': '[1]  \n',
      'docs/ünïcode.json': '[1,\t\n2]',
      'notes.txt': 'white space  \n',
    });
    edit(place, repo, 'src/code.js');
    const before = mine(place, repo);
    const { ended, run } = await tidy(place, repo);
    expect(ended.code, ended.stderr).toBe(0);
    expect(run.state).toBe('done');
    expect(mine(place, repo)).toEqual(before);
    const range = `${run.base}..${run.branch}`;
    const changed = place.git(repo, 'diff', '--name-only', '-z', range).split('\0');
    expect(changed.filter((path) => path !== '').toSorted()).toEqual([
      'docs/ünïcode.json',
      'package.json',
      'src/code.js',
      'src/no code.js',
      'src/windows.js',
    ]);
    const after = place.unpack(repo, run.branch);
    expect(readFileSync(join(after, 'src/code.js'), 'utf8')).toBe(
      'const a = 1;\nexport default a;\n',
    );
    expect(readFileSync(join(after, 'src/windows.js'), 'utf8')).toBe(
      'const b = 1;\r\nexport default b;\r\n',
    );
    expect(place.leftovers(repo, run.id)).toEqual([]);
  });

  it('works on the source of a published package', async () => {
    const place = makePlace();
    const repo = join(place.root, 'picomatch');
    cpSync(join(PACKAGE, 'node_modules/picomatch'), repo, { recursive: true, dereference: true });
    commitAll(place, repo);
    edit(place, repo, 'package.json');
    const before = mine(place, repo);
    const { ended, run } = await tidy(place, repo);
    expect(ended.code, ended.stderr).toBe(0);
    expect(run.state).toBe('done');
    expect(mine(place, repo)).toEqual(before);
  });

  it('has nothing against a repository without any of it', async () => {
    const place = makePlace();
    const repo = join(place.root, 'repo');
    commitAll(place, repo, { 'README.md': 'A repository' });
    const { ended, run } = await tidy(place, repo);
    expect(ended.code, ended.stderr).toBe(0);
    expect(place.git(repo, 'rev-parse', run.branch)).toBe(run.base);
  });

  it('fails when tests that passed do not pass any more', async () => {
    const place = makePlace();
    const repo = join(place.root, 'repo');
    commitAll(place, repo, {
      'package.json': '{ "scripts": { "test": "grep -q \' $\' a.js" } }\n',
      'a.js': 'const a = 1; \n',
    });
    const { ended } = await tidy(place, repo);
    expect(ended.code).toBe(1);
    const tasks = await place.tasks(repo);
    expect(tasks.filter((task) => task.state !== 'done')).toMatchObject([
      { id: 'tests', state: 'failed' },
    ]);
  });
});

describe('03-lead-plans', () => {
  it('W: the lead makes the graph, adds a task midway, and all of it is merged', async () => {
    const place = makePlace();
    const copy = join(place.root, 'jot');
    cpSync(join(EXAMPLES, '03-lead-plans'), copy, { recursive: true });
    const repo = join(copy, 'repo');
    commitAll(place, repo);
    const ended = await place.troupe(repo, 'run', '../team.yaml');
    expect(ended, ended.stdout).toMatchObject({ code: 0, stderr: '' });
    const tasks = await place.tasks(repo);
    expect(tasks.map((task) => [task.id, task.state, task.needs])).toEqual([
      ['notes', 'done', []],
      ['command', 'done', ['notes']],
      ['readme', 'done', ['command']],
      ['ids', 'done', ['notes']],
    ]);
    const mail = await place.mail(repo);
    const fromLead = mail.filter((row) => row.from === 'lead').map((row) => [row.to, row.state]);
    expect(fromLead).toEqual([
      ['implementer-1', 'seen'],
      ['user', 'seen'],
    ]);
    const actors = (await place.json(repo, 'ps')).flat() as { name: string; kind: string }[];
    expect(actors.filter((actor) => actor.kind === 'subagent')).toHaveLength(1);
    const [run] = await place.runs(repo);
    if (run === undefined) throw new Error('no run');
    const after = place.unpack(repo, run.branch);
    expect(place.npmTest(after)).toBe(0);
    expect(readFileSync(join(after, 'README.md'), 'utf8')).toContain('jot remove ID');
    expect(place.git(repo, 'status', '--porcelain')).toBe('');
    expect(place.leftovers(repo, run.id)).toEqual([]);
  });
});

describe('04-plan-first', () => {
  it('A8: nothing is changed before the plan is approved, and the worker ends when it is asked to', async () => {
    const place = makePlace();
    const copy = join(place.root, 'say');
    cpSync(join(EXAMPLES, '04-plan-first'), copy, { recursive: true });
    const repo = join(copy, 'repo');
    commitAll(place, repo);
    const ended = await place.troupe(repo, 'run', '../team.yaml');
    expect(ended, ended.stdout).toMatchObject({ code: 0, stderr: '' });
    const plans = (await place.json(repo, 'plans')).flat();
    expect(plans).toMatchObject([
      {
        id: 'plan-1',
        by: 'finn',
        to: 'lead',
        task: 'rename',
        state: 'rejected',
        decidedBy: 'lead',
      },
      {
        id: 'plan-2',
        by: 'finn',
        to: 'lead',
        task: 'rename',
        state: 'approved',
        decidedBy: 'lead',
      },
    ]);
    const decisions = (await place.json(repo, 'events', '--type', 'decision.made')) as {
      data: { tool: string; effect: string; rule: string };
    }[];
    const said = decisions.map(({ data }) => `${data.tool} ${data.effect} ${data.rule}`);
    expect(said.slice(0, 3)).toEqual([
      expect.stringMatching(/^bash allow/),
      'write_file deny plan-gate',
      'bash deny plan-gate',
    ]);
    expect(said.slice(3).every((one) => one.includes(' allow '))).toBe(true);
    const actors = (await place.json(repo, 'ps')).flat();
    expect(actors).toContainEqual(
      expect.objectContaining({ name: 'finn', state: 'stopped', reason: expect.anything() }),
    );
    const [run] = await place.runs(repo);
    if (run === undefined) throw new Error('no run');
    const after = place.unpack(repo, run.branch);
    expect(readFileSync(join(after, 'say.sh'), 'utf8')).toContain('"--loud"');
    expect(place.leftovers(repo, run.id)).toEqual([]);
  });
});
