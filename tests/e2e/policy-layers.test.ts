/** The layers of a policy in runs: your own file, the repository's, trust, modes, links, and files that change meanwhile. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { makeWorld, type World } from './cli-world.ts';

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

interface Scene {
  readonly calls: readonly string[];
  readonly permissions?: string;
  readonly project?: string;
  readonly user?: string;
}

function makeScene(scene: Scene): World {
  const world = makeWorld();
  worlds.push(world);
  world.write(
    'team.yaml',
    `version: 1\nname: t\nmodel: scripted/s.yaml\ntasks: [{ id: a, title: A, prompt: Do a. }]\n${scene.permissions ?? ''}`,
  );
  const calls = scene.calls.map((call) => `          - ${call}\n`).join('');
  world.write(
    's.yaml',
    `version: 1\nsections:\n  - turns:\n      - calls:\n${calls}      - calls: [{ complete_task: { summary: done } }]\n`,
  );
  if (scene.project !== undefined) world.write('.troupe/policy.yaml', scene.project);
  if (scene.user !== undefined) writeUser(world, scene.user);
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Team');
  return world;
}

function writeUser(world: World, text: string): void {
  const folder = join(world.root, 'home/.config/troupe');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy.yaml'), text);
}

interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function eventsOf(world: World, run: string): Event[] {
  const { stdout } = world.troupe('events', '--run', run, '--json');
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event);
}

/** `effect rule` of each decision, in order. */
function decisions(world: World, run: string): string[] {
  return eventsOf(world, run)
    .filter((event) => event.type === 'decision.made')
    .map(({ data }) => `${String(data['effect'])} ${String(data['rule'])}`);
}

function runHeadless(world: World, id: string, ...more: string[]): string {
  const done = world.troupe('run', 'team.yaml', '--headless', '--run-id', id, ...more);
  expect(done.code, done.stdout + done.stderr).toBe(0);
  return done.stderr;
}

const PROJECT = `version: 1
rules:
  - { id: p-cat, effect: deny, tool: bash, argv: [cat] }
  - { id: p-date, effect: allow, tool: bash, argv: [date] }
`;
const CALLS = [
  'bash: { command: cat README.md }',
  'bash: { command: date }',
  'bash: { command: uname }',
];

test('P3: a repository forbids at once and allows after trust of its content; what a person revokes counts no more', () => {
  const user = 'version: 1\nrules: [{ id: u-uname, effect: allow, tool: bash, argv: [uname] }]\n';
  const world = makeScene({ calls: CALLS, project: PROJECT, user });
  expect(runHeadless(world, 'r1')).toContain(
    'not trusted, so nothing in it allows anything: .troupe/policy.yaml',
  );
  expect(decisions(world, 'r1')).toEqual(['deny p-cat', 'deny default', 'allow u-uname']);

  const listed = world.troupe('trust', '--list');
  expect(listed.stdout).toMatch(/^not trusted {2}[0-9a-f]{12} {2}\.troupe\/policy\.yaml\n/);
  expect(listed.stdout).toContain('allows bash with argv ["date"] (p-date)');
  expect(world.troupe('trust').stdout).toContain('1 file is trusted');
  expect(runHeadless(world, 'r2')).not.toContain('not trusted');
  expect(decisions(world, 'r2')).toEqual(['deny p-cat', 'allow p-date', 'allow u-uname']);
  const explained = world.troupe('policy', 'explain', 'date', '--json');
  expect(JSON.parse(explained.stdout)).toMatchObject({
    decision: { action: 'allow', rule: 'p-date' },
    from: `project, ${world.repo}/.troupe/policy.yaml:4`,
  });

  // Trust is in the content: one more character, and it is not that content.
  writeFileSync(join(world.repo, '.troupe/policy.yaml'), `${PROJECT}# more\n`);
  runHeadless(world, 'r3');
  expect(decisions(world, 'r3')).toEqual(['deny p-cat', 'deny default', 'allow u-uname']);
  writeFileSync(join(world.repo, '.troupe/policy.yaml'), PROJECT);
  expect(world.troupe('trust', '--revoke', '.troupe').stdout).toContain('no longer trusted');
  runHeadless(world, 'r4');
  expect(decisions(world, 'r4')[1]).toBe('deny default');
  expect(world.troupe('trust', 'README.md')).toMatchObject({ code: 2 });
});

test('each decision names the revision of the layers that it was made by', () => {
  const world = makeScene({ calls: CALLS, project: PROJECT });
  runHeadless(world, 'r1');
  const events = eventsOf(world, 'r1');
  const loaded = events.find((event) => event.type === 'policy.loaded');
  expect(loaded?.data['layers']).toEqual([
    expect.objectContaining({ name: 'project', trusted: false, hash: expect.any(String) }),
    expect.objectContaining({ name: 'team' }),
  ]);
  for (const event of events.filter((one) => one.type === 'decision.made')) {
    expect(event.data['revision']).toBe(loaded?.data['revision']);
  }
});

test('a policy that can’t be read starts nothing, and says where (exit 2)', () => {
  const world = makeScene({
    calls: CALLS,
    user: 'version: 1\nrules: [{ id: x, effect: allow, tool: bsh }]\n',
  });
  const done = world.troupe('run', 'team.yaml', '--headless');
  expect(done.code).toBe(2);
  expect(done.stderr).toMatch(/policy\.yaml:2:39: rules\[0\]\.tool: there is no tool "bsh"/);
  expect(JSON.parse(world.troupe('runs', '--json').stdout)).toEqual([]);
});

test('P20: a policy of the repository that is a link is refused, wherever it leads', () => {
  const world = makeScene({ calls: CALLS });
  mkdirSync(join(world.repo, '.troupe'), { recursive: true });
  symlinkSync('/dev/zero', join(world.repo, '.troupe/policy.yaml'));
  for (const words of [
    ['run', 'team.yaml', '--headless'],
    ['policy', 'explain', 'ls'],
  ]) {
    const done = world.troupe(...words);
    expect(done.code, words.join(' ')).toBe(2);
    expect(done.stderr).toMatch(/policy\.yaml: it is a link/);
  }
});

test('P20 P21: a policy that breaks while a run goes on stands as it was, without its allows, and everyone is told', () => {
  const world = makeScene({
    calls: [
      'bash: { command: date }',
      'bash: { command: ./break.sh }',
      'bash: { command: date }',
      'bash: { command: cat README.md }',
      'bash: { command: ./mend.sh }',
      'bash: { command: date }',
    ],
    user: `version: 1
defaults: { interactive: allow }
rules:
  - { id: u-date, effect: allow, tool: bash, argv: [date] }
  - { id: u-cat, effect: deny, tool: bash, argv: [cat] }
`,
  });
  const path = join(world.root, 'home/.config/troupe/policy.yaml');
  const good = readFileSync(path, 'utf8');
  world.write('break.sh', `#!/bin/sh\necho 'version: 1' > ${path}\necho 'rules: [' >> ${path}\n`);
  world.write('good.txt', good);
  world.write('mend.sh', `#!/bin/sh\ncp good.txt ${path}\n`);
  world.git('add', '-A');
  world.git('update-index', '--chmod=+x', 'break.sh', 'mend.sh');
  world.git('commit', '-q', '-m', 'Scripts');
  // Its team file is the person's layer for this run: it lets the scripts run by their default, also while the other is broken.
  writeFileSync(
    join(world.repo, 'team.yaml'),
    readFileSync(join(world.repo, 'team.yaml'), 'utf8') +
      'permissions: { default: allow }\nsandbox: off\n',
  );
  runHeadless(world, 'r1');
  expect(decisions(world, 'r1')).toEqual([
    'allow u-date',
    'allow default',
    'allow default',
    'deny u-cat',
    'allow default',
    'allow u-date',
  ]);
  const alerts = eventsOf(world, 'r1').filter((event) => event.type === 'policy.alert');
  expect(alerts).toHaveLength(1);
  expect(String(alerts[0]?.data['text'])).toMatch(/policy\.yaml:\d+:\d+: /);
  expect(world.troupe('tail', 'user', '--run', 'r1').stdout).toContain(
    'they allow nothing by themselves',
  );
});

test('modes from the command line: edits, reading only, locked', () => {
  const world = makeScene({
    calls: ['write_file: { path: x.txt, content: x }', 'bash: { command: ls }'],
  });
  runHeadless(world, 'ask', '--mode', 'ask');
  expect(decisions(world, 'ask')).toEqual(['deny default', 'deny default']);
  runHeadless(world, 'edits', '--mode', 'accept-edits');
  expect(decisions(world, 'edits')).toEqual(['allow accept-edits', 'deny default']);
  runHeadless(world, 'only', '--mode', 'read-only');
  expect(decisions(world, 'only')).toEqual(['deny read-only', 'allow read-only-readers']);
  expect(world.troupe('run', 'team.yaml', '--mode', 'yolo')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('ask, accept-edits, read-only, auto-in-sandbox, locked'),
  });
});

test('P7: paths of calls are judged by what they lead to, in the supervisor and in the thread', () => {
  const world = makeScene({
    calls: [
      'bash: { command: cat innocent.txt }',
      'read_file: { path: shut.txt }',
      'grep: { pattern: hidden }',
      'glob: { pattern: "**/*" }',
      'write_file: { path: way/x.txt, content: x }',
    ],
    permissions: `permissions:
  default: allow
  rules:
    - { id: shut, effect: deny, tool: [read_file, grep, glob], path: "secret/**" }
    - { id: no-outside, effect: deny, tool: [write_file, edit_file], path: { outside: worktree } }
`,
  });
  world.write('secret/key.txt', 'hidden words\n');
  world.write('open.txt', 'hidden in the open\n');
  symlinkSync('secret/key.txt', join(world.repo, 'innocent.txt'));
  symlinkSync('secret/key.txt', join(world.repo, 'shut.txt'));
  mkdirSync(join(world.root, 'outside'));
  symlinkSync(join(world.root, 'outside'), join(world.repo, 'way'));
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Links');
  runHeadless(world, 'r1');
  expect(decisions(world, 'r1')).toEqual(['deny shut', 'deny no-outside']);
  const results = eventsOf(world, 'r1')
    .filter((event) => event.type === 'call.ended')
    .map(({ data }) => `${String(data['tool'])}: ${String(data['text'])}`);
  const resultOf = (tool: string): string | undefined =>
    results.find((one) => one.startsWith(`${tool}: `));
  expect(resultOf('read_file')).toContain('refused: rule shut');
  expect(resultOf('grep')).toContain('open.txt:1: hidden in the open');
  expect(resultOf('grep')).not.toContain('hidden words');
  expect(resultOf('glob')).toContain('open.txt');
  expect(resultOf('glob')).not.toContain('secret');
  expect(existsSync(join(world.root, 'outside/x.txt'))).toBe(false);
});

test('a pinned file that was changed lapses the rule', () => {
  const world = makeScene({
    calls: [
      'bash: { command: date }',
      'write_file: { path: pinned.txt, content: "two" }',
      'bash: { command: date }',
    ],
    permissions: `permissions:
  rules:
    - { id: pinned, effect: allow, tool: bash, argv: [date], pins: [pinned.txt] }
    - { id: edits, effect: allow, tool: [write_file] }
`,
  });
  world.write('pinned.txt', 'one\n');
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Pinned');
  runHeadless(world, 'r1');
  expect(decisions(world, 'r1')).toEqual(['allow pinned', 'allow edits', 'deny default']);
});
