/** What the doctor, check, trust and run say of files that decide what agents may do, and that can't be used. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeWorld, type World } from './cli-world.ts';

let world: World;

beforeAll(() => {
  world = makeWorld();
  world.write(
    'team.yaml',
    'version: 1\nname: t\nmodel: scripted/s.yaml\nmembers: { teammates: [{ name: ada, agent: implementer }] }\ntasks: [{ id: a, prompt: x }]\n',
  );
  world.write(
    's.yaml',
    'version: 1\nsections: [{ actor: ada, turns: [{ calls: [{ complete_task: { summary: done } }] }] }]\n',
  );
});

afterAll(() => world.remove());

interface Row {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly repair: string;
}

const doctor = (): Row[] => JSON.parse(world.troupe('doctor', '--json').stdout) as Row[];
const of = (rows: readonly Row[], check: string): Row[] =>
  rows.filter((row) => row.check === check);

test('a broken policy is named with its place, and nothing is announced or made with it', () => {
  world.write('.troupe/policy.yaml', 'version: 1\nrules: [{ id: a, effect: alow, tool: bash }]\n');
  const [broken] = of(doctor(), 'policy').filter((row) => !row.ok);
  expect(broken?.detail).toMatch(/policy\.yaml:2:\d+: .*effect/);
  expect(broken?.repair).toContain('Nothing starts');
  const checked = world.troupe('check', 'team.yaml');
  expect(checked.code).toBe(2);
  expect(checked.stderr).toMatch(/policy\.yaml:2:\d+/);
  const ran = world.troupe('run', 'team.yaml');
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr.trimStart()).toMatch(/^troupe: \S*policy\.yaml:2:/);
  expect(world.troupe('runs', '--json').stdout.trim()).toBe('[]');
  const trusted = world.troupe('trust');
  expect(trusted.stderr).toMatch(/not used and not trusted: \.troupe\/policy\.yaml:2:\d+/);
});

test('links, pipes and files without end are named, block nothing and are read by nobody', () => {
  rmSync(join(world.repo, '.troupe'), { recursive: true, force: true });
  for (const folder of ['skills/piped', 'skills/linked', 'memory', 'agents']) {
    mkdirSync(join(world.repo, '.troupe', folder), { recursive: true });
  }
  const own = (...path: string[]): string => join(world.repo, '.troupe', ...path);
  symlinkSync('/dev/zero', own('policy.yaml'));
  execFileSync('mkfifo', [own('skills/piped/SKILL.md')]);
  symlinkSync('/etc/passwd', own('skills/linked/SKILL.md'));
  symlinkSync('/etc/passwd', own('memory/MEMORY.md'));
  symlinkSync('/etc/passwd', own('agents/x.md'));
  const rows = doctor();
  expect(of(rows, 'policy').filter((row) => !row.ok)).toMatchObject([
    { detail: expect.stringContaining('policy.yaml: it is a link') as unknown },
  ]);
  expect(of(rows, 'memory')).toMatchObject([
    { ok: false, detail: expect.stringContaining('it is a link') as unknown },
  ]);
  const skills = world.troupe('skills', 'check');
  expect(skills.stdout + skills.stderr).toMatch(/linked\/SKILL\.md:1:1: it is a link/);
  expect(skills.stdout + skills.stderr).toMatch(/piped\/SKILL\.md:1:1: it is no regular file/);
  expect(world.troupe('trust', '--list').stderr).toMatch(/agents\/x\.md: it is a link/);
  expect(world.troupe('run', 'team.yaml')).toMatchObject({ code: 2, stdout: '' });
});

test('a state folder that can be written is told', () => {
  expect(of(doctor(), 'state folder')).toMatchObject([{ ok: true }]);
});
