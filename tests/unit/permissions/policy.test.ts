/** Policy files: what is refused with its place, layers, actors, modes, and the tools that are not bash. */
import { expect, test } from 'vitest';
import { evaluate, makePolicy, type Resolve } from '../../../src/permissions/index.ts';
import { bash, layerFrom, policyFrom, problemsOf, REFERENCE, tool } from './world.ts';

const rules = (...list: string[]): string =>
  `version: 1\nrules:\n${list.map((one, at) => `  - { id: r${at}, ${one} }\n`).join('')}`;

test.each([
  ['effect: allow, tool: bsh', '3:36: rules[0].tool: there is no tool "bsh"'],
  ['effect: allow, tool: bash, argv: [git status]', 'rules[0].argv: "git status" is not one word'],
  [
    'effect: allow, tool: bash, argv: [{ glob: "*" }, push]',
    'rules[0].argv: an allow rule has no wildcard before',
  ],
  [
    'effect: allow, tool: bash, argv: [git, { glob: "*" }, x]',
    'rules[0].argv: an allow rule has no wildcard before',
  ],
  ['effect: allow, tool: bash, argv: [python3]', 'rules[0].argv: python3 runs code'],
  ['effect: allow, tool: bash, argv: [npx, x]', 'rules[0].argv: npx runs what follows it'],
  ['effect: allow, tool: bash, argv: [sudo, ls]', 'rules[0].argv: sudo runs what follows it'],
  ['effect: allow, tool: bash, argv: [./x]', 'rules[0].argv: "./x" is a path'],
  ['effect: allow, tool: bash', 'rules[0].tool: this allows the tool whatever it is called with'],
  [
    'effect: allow, tool: [write_file], path: ".git/**"',
    'rules[0].path: this covers protected paths',
  ],
  [
    'effect: allow, tool: [write_file], path: { under: / }',
    'rules[0].path: this covers protected paths',
  ],
  [
    'effect: allow, tool: [read_file], path: { under: ~/.ssh }',
    'rules[0].path: this covers protected paths',
  ],
  [
    'effect: deny, tool: [read_file], path: /etc/x',
    'rules[0].path: the glob "/etc/x" could never fire',
  ],
  ['effect: deny, tool: [read_file], argv: [ls]', 'rules[0].argv: `argv` is for the tool bash'],
  ['effect: allow, tool: web_fetch, host: "https://x.test/"', 'is no host name'],
  ['effect: allow, tool: mcp, server: a_b, name: x', 'rules[0].server: "a_b" is no server id'],
  ['effect: allow, tool: bash, argv: [ls], regex: x', '3:54: rules[0].regex: unknown key "regex"'],
  [
    'effect: allow, tool: bash, argv: [t1], pins: [../x]',
    'rules[0].pins: "../x" is no file of the tree',
  ],
  ['effect: maybe, tool: bash', 'expected allow or ask or deny'],
])('a rule with {%s} is refused with its place', (rule, message) => {
  expect(problemsOf(rules(rule))?.join('\n')).toContain(message);
});

test('ids are unique, profiles exist and do not extend themselves, built-in rules can be lifted by name', () => {
  const text = `version: 1
actors: { "*": { profile: none } }
profiles:
  a: { extends: b, rules: [{ id: x, effect: deny, tool: bash, argv: [ls] }] }
  b: { extends: a }
rules: [{ id: x, effect: deny, tool: bash, argv: [cat] }]
lift: [nothing]
`;
  expect(problemsOf(text)).toEqual([
    expect.stringContaining('2:27: actors["*"].profile: there is no profile "none"'),
    expect.stringContaining('4:17: profiles.a.extends: profile "a" extends itself'),
    expect.stringContaining('4:34: profiles.a.rules[0].id: there are two rules "x"'),
    expect.stringContaining('5:17: profiles.b.extends: profile "b" extends itself'),
    expect.stringContaining('7:8: lift[0]: there is no built-in rule "nothing"'),
  ]);
});

test('examples are run when the file is read, and say why they come out otherwise', () => {
  const text = `${rules('effect: deny, tool: bash, argv: [git, push]')}tests:\n  - { bash: git -C /x push, expect: deny }\n  - { bash: ls, expect: allow }\n`;
  expect(problemsOf(text)).toEqual([
    '6:25: tests[1].expect: the test expects allow, and it is ask by default: no rule allows `ls`',
  ]);
  expect(problemsOf('')).toEqual(['1:1: the policy is empty (begin with `version: 1`)']);
  expect(problemsOf('version: 1\nrules: [')).toHaveLength(1);
  expect(problemsOf('{"version": 1, "rules": []}')).toBeNull();
});

test('P1: a deny wins over an allow that says more (E01)', () => {
  const policy = policyFrom(
    rules(
      'effect: deny, tool: bash, argv: [aws]',
      'effect: allow, tool: bash, argv: [aws, s3, ls]',
    ),
  );
  expect(bash('aws s3 ls', policy)).toMatchObject({ action: 'deny', rule: 'r0' });
});

test('P3: an administrator’s ask is not relaxed by the user (E14), a repository allows nothing before it is trusted (E10)', () => {
  const allow = rules(
    'effect: allow, tool: bash, argv: [make2]',
    'effect: deny, tool: bash, argv: [cat]',
  );
  const admin = layerFrom(rules('effect: ask, tool: bash, argv: [make2]'), { name: 'admin' });
  const call = (command: string) => ({ tool: 'bash', input: { command } });
  expect(evaluate(call('make2'), makePolicy([admin, layerFrom(allow)], ''), REFERENCE).action).toBe(
    'ask',
  );
  const open = layerFrom(
    `${allow}defaults: { interactive: allow }\nmode: accept-edits\nlift: [env-files]\n`,
    { name: 'project', trusted: false },
  );
  const untrusted = makePolicy([open], '');
  expect(evaluate(call('make2'), untrusted, REFERENCE).action).toBe('ask');
  expect(evaluate(call('cat x'), untrusted, REFERENCE).action).toBe('deny');
  expect(tool('write_file', { path: 'a' }, untrusted).action).toBe('ask');
  expect(tool('read_file', { path: '.env' }, untrusted).action).toBe('deny');
});

test('P3: profiles by patterns of actor paths; deny rules of ancestors count for their children (E04 E05)', () => {
  const policy = policyFrom(`version: 1
actors:
  "*": { profile: reader }
  "lead/impl-*": { profile: builder }
profiles:
  reader: { rules: [{ id: ls, effect: allow, tool: bash, argv: [ls] }, { id: no-x, effect: deny, tool: bash, argv: [xx] }] }
  builder:
    extends: reader
    rules: [{ id: b, effect: allow, tool: bash, argv: [build] }]
    tests: [{ bash: build, expect: allow }, { bash: xx, expect: deny }]
`);
  const as = (actor: string, command: string): string => bash(command, policy, { actor }).action;
  expect(as('run7/lead', 'build')).toBe('ask');
  expect(as('run7/lead/impl-2', 'build')).toBe('allow');
  expect(as('run7/lead/impl-2', 'xx')).toBe('deny');
  expect(as('run7/lead/impl-2/deep', 'build')).toBe('ask');
  expect(as('run7/lead/impl-2/deep', 'ls')).toBe('allow');
});

test('P3: what a parent may not do or is asked about, its children may not either, whatever their own profile says (E05)', () => {
  const policy = policyFrom(`version: 1
actors:
  "lead": { profile: strict }
  "lead/ada": { profile: careful }
  "lead/ada/*": { profile: free }
profiles:
  strict: { rules: [{ id: no-x, effect: deny, tool: bash, argv: [xx], reason: not here }] }
  careful: { rules: [{ id: ask-y, effect: ask, tool: bash, argv: [yy] }] }
  free: { rules: [{ id: all, effect: allow, tool: bash, argv: [{ in: [xx, yy, zz] }] }] }
`);
  const as = (actor: string, command: string): string => bash(command, policy, { actor }).action;
  expect(as('run7/lead/ada/ada-sub-1', 'zz')).toBe('allow');
  expect(as('run7/lead/ada/ada-sub-1', 'xx')).toBe('deny');
  expect(as('run7/lead/ada/ada-sub-1', 'yy')).toBe('ask');
  expect(as('run7/lead/bo', 'xx')).toBe('deny');
  // Not the other way: a child's rules are no parent's.
  expect(as('run7/lead/ada', 'zz')).toBe('ask');
});

test('modes: edits, reading only, locked, and the sandbox that allows what needs nothing outside', () => {
  const mode = (name: string) => policyFrom(`version: 1\nmode: ${name}\n`);
  expect(tool('write_file', { path: 'a' }, mode('ask')).action).toBe('ask');
  expect(tool('write_file', { path: 'a' }, mode('accept-edits')).action).toBe('allow');
  expect(bash('echo x > a', mode('read-only')).action).toBe('deny');
  expect(bash('cat a | wc -l', mode('read-only')).action).toBe('allow');
  expect(bash('ls', mode('locked'))).toMatchObject({ action: 'deny', rule: 'default' });
  const auto = mode('auto-in-sandbox');
  expect(bash('python3 x.py', auto).action).toBe('ask');
  expect(bash('python3 x.py', auto, { sandboxed: true })).toMatchObject({
    action: 'allow',
    rule: 'sandbox',
  });
  expect(bash('git push', auto, { sandboxed: true }).action).toBe('deny');
});

test('conditions of an allow rule: a sandbox, pinned files', () => {
  const policy = policyFrom(
    rules(
      'effect: allow, tool: bash, argv: [t1], requires: { sandbox: true }',
      'effect: allow, tool: bash, argv: [t2], pins: [package.json]',
    ),
  );
  expect(bash('t1', policy).action).toBe('ask');
  expect(bash('t1', policy, { sandboxed: true }).action).toBe('allow');
  expect(bash('t2', policy).action).toBe('ask');
  expect(bash('t2', policy, { pinsHold: () => true }).action).toBe('allow');
  expect(bash('t2', policy, { pinsHold: () => false }).action).toBe('ask');
});

test('hosts are compared by labels, inner addresses are refused in every spelling (G16 G19)', () => {
  const policy = policyFrom(
    rules(
      'effect: allow, tool: web_fetch, host: { domain: python.org }',
      'effect: allow, tool: web_fetch, host: x.test',
    ),
  );
  const fetched = (url: string): string => tool('web_fetch', { url }, policy).action;
  expect(fetched('https://docs.python.org/3/')).toBe('allow');
  expect(fetched('https://DOCS.Python.org./')).toBe('allow');
  expect(fetched('https://docs.python.org.evil.test/')).toBe('ask');
  expect(fetched('https://evilpython.org/')).toBe('ask');
  expect(fetched('https://python.org@evil.test/')).toBe('ask');
  expect(fetched('https://sub.x.test/')).toBe('ask');
  for (const url of [
    'http://169.254.169.254/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://localhost:3000',
    'http://10.1.2.3/',
    'file:///etc/passwd',
    'nonsense',
  ]) {
    expect(fetched(url), url).toBe('deny');
  }
});

test('tools of servers are told apart by their raw names (H01 H05 H06 H10)', () => {
  const policy = policyFrom(rules('effect: allow, tool: mcp, server: foo, name: "get_*"'));
  expect(tool('mcp', { server: 'foo', name: 'get_x', arguments: {} }, policy).action).toBe('allow');
  expect(tool('mcp__foo__get_x', { readOnlyHint: true }, policy).action).toBe('allow');
  expect(tool('mcp__foo-bar__get_x', {}, policy).action).toBe('ask');
  expect(tool('mcp__foo_bar__get_x', {}, policy).action).toBe('ask');
  expect(tool('mcp__foo__bash', { command: 'curl x' }, policy).action).toBe('ask');
  expect(tool('mcp__foo__get_x', { file: '/etc/hosts' }, policy).action).toBe('ask');
  expect(tool('mcp__foo__get_x', { deep: [{ file: '../../home/u/.ssh/id' }] }, policy).action).toBe(
    'deny',
  );
});

test('P17: a call that sets its own folder, mode or sandbox is asked about at least (E19 D18)', () => {
  expect(bash('ls').action).toBe('allow');
  for (const extra of [
    { mode: 'bypass' },
    { sandbox: 'off' },
    { dangerouslyDisableSandbox: true },
    { cwd: '/' },
    { with_escalated_permissions: true },
  ]) {
    expect(tool('bash', { command: 'ls', ...extra }).action).toBe('ask');
  }
  expect(tool('write_file', { path: 'x', cwd: '/' }).action).toBe('deny');
});

test.each([
  ['write_file', '/w/a1-evil/x', 'deny'],
  ['write_file', '../a2/x', 'deny'],
  ['write_file', 'src/../../x', 'deny'],
  ['write_file', '.troupe/policy.json', 'deny'],
  ['write_file', '.GIT/config', 'deny'],
  ['write_file', '.g\u200cit/config', 'deny'],
  ['write_file', '.\uFF47it/config', 'deny'],
  ['write_file', '.git', 'deny'],
  ['write_file', 'sub/.git/hooks/x', 'deny'],
  ['write_file', 'bare.git/hooks/x', 'deny'],
  ['write_file', '.vscode/tasks.json', 'ask'],
  ['write_file', '.github/workflows/ci.yml', 'ask'],
  ['write_file', '/proc/self/root/etc/x', 'deny'],
  ['write_file', '/proc/self/fd/3', 'deny'],
  ['write_file', '~/.bashrc', 'deny'],
  ['write_file', 'src/a.ts', 'allow'],
  ['Edit', 'src/a.ts', 'allow'],
  ['read_file', 'src/a.ts', 'allow'],
  ['read_file', '.env', 'deny'],
  ['read_file', 'a/.ENV', 'deny'],
  ['read_file', '.env.example', 'deny'],
  ['read_file', '.git/HEAD', 'allow'],
  ['read_file', '.git/troupe/token', 'deny'],
  ['read_file', '.troupe/agents/a.md', 'allow'],
  ['read_file', '.troupe/config.yaml', 'deny'],
  ['read_file', '~/.config/gh/hosts.yml', 'deny'],
  ['read_file', '/home/u/.troupe/x', 'deny'],
  ['read_file', '/etc/hosts', 'ask'],
  ['read', '/proc/self/cwd/.env', 'deny'],
] as const)('P2 P6 P8: %s %s: %s', (name, path, wanted) => {
  expect(tool(name, { path }).action).toBe(wanted);
});

test('one-segment globs are anchored (D17), reading is not', () => {
  const policy = policyFrom(rules('effect: allow, tool: [edit_file], path: "src/**"'));
  expect(tool('edit_file', { path: 'src/a/b.ts' }, policy).action).toBe('allow');
  expect(tool('edit_file', { path: 'lib/src/a.ts' }, policy).action).toBe('ask');
  expect(tool('write_file', { path: 'src/a.ts' }, policy).action).toBe('ask');
  expect(bash('cat lib/src/a.ts', policy).action).toBe('ask');
});

test('the built-in rule about .env files holds until it is lifted, and searches leave them out (D16)', () => {
  const none = policyFrom('version: 1\n');
  expect(tool('read_file', { path: 'a/.env' }, none)).toMatchObject({
    action: 'deny',
    rule: 'env-files',
  });
  expect(tool('read_file', { path: '.env.example' }, none).action).toBe('allow');
  expect(
    tool('read_file', { path: '.env' }, policyFrom('version: 1\nlift: [env-files]\n')).action,
  ).toBe('allow');
  const search = tool('grep', { pattern: 'KEY' }, none);
  expect(search).toMatchObject({ action: 'allow' });
  expect(search.excludes.join()).toContain('.env');
});

test('P7: links are judged by name and by target (D03 D05), hard links and special files too', () => {
  const links = new Map([
    ['/w/a1/link', '/home/u'],
    ['/w/a1/a.txt', '/w/a1/.env'],
    ['/w/a1/in', '/w/a1/src'],
    ['/w/a1/dangling', '/home/u/.bashrc'],
  ]);
  const resolve: Resolve = (path) => {
    const link = [...links].find(([from]) => path === from || path.startsWith(`${from}/`));
    const real = link === undefined ? path : link[1] + path.slice(link[0].length);
    const kind = real.endsWith('fifo')
      ? 'special'
      : real === '/home/u/.bashrc'
        ? 'missing'
        : 'file';
    return { path: real, kind, links: real.endsWith('hard') ? 2 : 1 };
  };
  const on = (name: string, path: string): string =>
    tool(name, { path }, undefined, { resolve }).action;
  expect(on('write_file', 'link/new.txt')).toBe('deny');
  expect(on('read_file', 'a.txt')).toBe('deny');
  expect(on('write_file', 'in/x.ts')).toBe('allow');
  expect(on('write_file', 'dangling')).toBe('deny');
  expect(on('write_file', 'hard')).toBe('ask');
  expect(on('read_file', 'fifo')).toBe('deny');
  const shell = (command: string): string => bash(command, undefined, { resolve }).action;
  expect(shell('cat a.txt')).toBe('deny');
  expect(shell('echo x > link/y')).toBe('deny');
  expect(shell('cd link && cat .ssh/id_rsa')).toBe('deny');
  expect(shell('echo x > hard')).toBe('ask');
});

test('a locked actor is asked about what the floor holds only where a rule allows the rest', () => {
  const write = { path: '.vscode/tasks.json', content: '{}' };
  const locked = 'version: 1\nmode: locked\n';
  const rule = 'rules: [{ id: w, effect: allow, tool: write_file, path: "**" }]\n';
  expect(tool('write_file', write, policyFrom(locked)).action).toBe('deny');
  expect(tool('write_file', write, policyFrom(`${locked}${rule}`)).action).toBe('ask');
  expect(tool('write_file', write, policyFrom('version: 1\n')).action).toBe('ask');
});
