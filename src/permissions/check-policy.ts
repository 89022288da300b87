/**
 * What a policy file must not say, beyond its form (permissions §2.2): rules that can never fire, allow rules that open more
 * than they seem to, examples that come out otherwise. Each finding has its path in the document.
 */
import type { PathPattern, PermissionRule, PolicyFile, TokenPattern } from '../protocol/team.ts';
import type { Decision } from './decision.ts';
import { evaluate } from './evaluate.ts';
import { GLOB_CHARS_MAX, RULES_MAX, TESTS_MAX, TOKENS_MAX } from './limits.ts';
import { pathFloor } from './path-floor.ts';
import { namesOf } from './paths.ts';
import { BUILT_IN_RULES, makePolicy } from './policy.ts';
import { isInterpreter, RUNNERS } from './shell/programs.ts';
import { RULE_TOOLS } from './tool-names.ts';
import { expandBraces } from './wildcard.ts';

export interface PolicyFinding {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint?: string;
  readonly warning?: boolean;
}

/** An example in a policy: one call and what must become of it. */
export interface PolicyTest {
  readonly bash?: string | undefined;
  readonly read?: string | undefined;
  readonly write?: string | undefined;
  readonly fetch?: string | undefined;
  readonly tool?: string | undefined;
  readonly input?: unknown;
  readonly expect: 'allow' | 'ask' | 'deny';
}

export interface PolicyTests {
  readonly rules: readonly PolicyTest[];
  readonly profiles: Readonly<Record<string, readonly PolicyTest[]>>;
}

type Path = readonly (string | number)[];

/** `short`: the form of a team file, where an allow rule may open a whole tool. */
export function checkPolicy(
  file: PolicyFile,
  tests: PolicyTests,
  o: { readonly at: Path; readonly short: boolean },
): PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const ids = new Map<string, Path>();
  const lists: [Path, readonly PermissionRule[]][] = [[[...o.at, 'rules'], file.rules]];
  for (const [name, profile] of Object.entries(file.profiles)) {
    lists.push([[...o.at, 'profiles', name, 'rules'], profile.rules]);
  }
  for (const [path, rules] of lists) {
    for (const [index, rule] of rules.slice(0, RULES_MAX).entries()) {
      const at = [...path, index];
      const first = ids.get(rule.id);
      if (first !== undefined) {
        findings.push({
          path: [...at, 'id'],
          message: `there are two rules "${rule.id}" (the other is ${showAt(first)})`,
        });
      }
      ids.set(rule.id, first ?? at);
      findings.push(...checkRule(rule, at, o.short));
    }
    if (rules.length > RULES_MAX) findings.push({ path, message: `more than ${RULES_MAX} rules` });
  }
  findings.push(...checkNames(file, o.at));
  if (findings.some((finding) => finding.warning !== true)) return findings;
  return [...findings, ...runTests(file, tests, o.at)];
}

const showAt = (path: Path): string =>
  path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`,
    )
    .join('');

function checkNames(file: PolicyFile, at: Path): PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const known = Object.keys(file.profiles);
  for (const [pattern, { profile }] of Object.entries(file.actors)) {
    if (!known.includes(profile)) {
      const hint = known.length === 0 ? 'there are none' : `there are: ${known.join(', ')}`;
      findings.push({
        path: [...at, 'actors', pattern, 'profile'],
        message: `there is no profile "${profile}"`,
        hint,
      });
    }
  }
  for (const [name, profile] of Object.entries(file.profiles)) {
    const path = [...at, 'profiles', name, 'extends'];
    const seen = new Set([name]);
    let parent = profile.extends;
    while (parent !== undefined) {
      if (!known.includes(parent))
        findings.push({ path, message: `there is no profile "${parent}"` });
      if (seen.has(parent)) {
        findings.push({ path, message: `profile "${name}" extends itself` });
        break;
      }
      seen.add(parent);
      parent = Object.hasOwn(file.profiles, parent) ? file.profiles[parent]?.extends : undefined;
    }
  }
  const builtIn = BUILT_IN_RULES.map((rule) => rule.id);
  for (const [index, id] of file.lift.entries()) {
    if (!builtIn.includes(id)) {
      findings.push({
        path: [...at, 'lift', index],
        message: `there is no built-in rule "${id}"`,
        hint: `there are: ${builtIn.join(', ')}`,
      });
    }
  }
  return findings;
}

const FILES: ReadonlySet<string> = new Set([
  'read_file',
  'list_dir',
  'glob',
  'grep',
  'write_file',
  'edit_file',
]);

function checkRule(rule: PermissionRule, at: Path, short: boolean): PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const tools = typeof rule.tool === 'string' ? [rule.tool] : rule.tool;
  const add = (key: string, message: string, hint?: string): void => {
    findings.push({ path: [...at, key], message, ...(hint === undefined ? {} : { hint }) });
  };
  for (const tool of tools) {
    if (tool !== '*' && !RULE_TOOLS.includes(tool)) {
      add(
        'tool',
        `there is no tool "${tool}", so the rule could never fire`,
        `there are: ${RULE_TOOLS.join(', ')}`,
      );
    }
  }
  const only = (key: keyof PermissionRule, fits: (tool: string) => boolean, what: string): void => {
    if (rule[key] !== undefined && !tools.every(fits))
      add(key, `\`${key}\` is for ${what}: the rule could never fire`);
  };
  only('argv', (tool) => tool === 'bash', 'the tool bash');
  only('path', (tool) => tool === 'bash' || tool === '*' || FILES.has(tool), 'file tools and bash');
  only('host', (tool) => tool === 'web_fetch', 'the tool web_fetch');
  only('server', (tool) => tool === 'mcp', 'the tool mcp');
  only('name', (tool) => tool === 'mcp', 'the tool mcp');
  if (tools.includes('mcp') && rule.server === undefined && rule.effect === 'allow') {
    add('tool', 'an allow rule for mcp names its `server`');
  }
  if (rule.exact === true && rule.argv === undefined) add('exact', '`exact` needs `argv`');
  if (rule.argv !== undefined) checkArgv(rule, rule.argv, add);
  else if (rule.effect === 'allow' && !short && opens(rule, tools)) {
    add(
      'tool',
      'this allows the tool whatever it is called with',
      'give `argv`, `path` or `host`, or set `defaults: {interactive: allow}`',
    );
  }
  for (const pin of rule.pins ?? []) {
    if (pin === '' || pin.startsWith('/') || pin.split('/').includes('..') || /[*?~]/.test(pin)) {
      add('pins', `${JSON.stringify(pin)} is no file of the tree: the rule could never fire`);
    }
  }
  if (rule.path !== undefined) checkPath(rule, rule.path, add);
  if (rule.host !== undefined)
    checkHost(typeof rule.host === 'string' ? rule.host : rule.host.domain, add);
  if (rule.server !== undefined && !/^[a-z0-9-]{1,32}$/.test(rule.server)) {
    add('server', `"${rule.server}" is no server id`, 'use a-z, 0-9 and -, at most 32');
  }
  if (rule.server !== undefined && rule.name === '*' && rule.effect === 'allow') {
    findings.push({
      path: [...at, 'name'],
      message: `every tool of ${rule.server} is allowed, also those it gets later`,
      warning: true,
    });
  }
  return findings;
}

type Add = (key: string, message: string, hint?: string) => void;

function opens(rule: PermissionRule, tools: readonly string[]): boolean {
  return (
    (tools.includes('bash') || tools.includes('*')) &&
    rule.path === undefined &&
    rule.host === undefined &&
    rule.server === undefined
  );
}

function spellings(token: TokenPattern): readonly string[] {
  if (typeof token === 'string') return [token];
  return 'in' in token ? token.in : [];
}

function checkArgv(rule: PermissionRule, argv: readonly TokenPattern[], add: Add): void {
  if (argv.length === 0 || argv.length > TOKENS_MAX)
    add('argv', `has between 1 and ${TOKENS_MAX} words`);
  for (const token of argv) {
    for (const text of spellings(token)) {
      if (text === '' || /\s/.test(text)) {
        add(
          'argv',
          `${JSON.stringify(text)} is not one word: the rule could never fire`,
          'write each word by itself: [git, status]',
        );
      }
    }
    if (
      typeof token === 'object' &&
      'glob' in token &&
      (token.glob.length > GLOB_CHARS_MAX || token.glob.includes('**'))
    ) {
      add('argv', 'a glob is for one word, with * and ?');
    }
  }
  if (rule.effect !== 'allow') return;
  const [head] = argv;
  const globAt = argv.findIndex((token) => typeof token === 'object' && 'glob' in token);
  if (globAt === 0 || (globAt > 0 && globAt < argv.length - 1)) {
    add(
      'argv',
      'an allow rule has no wildcard before the words that follow it',
      'put the glob last',
    );
  }
  for (const name of head === undefined ? [] : spellings(head)) {
    if (name.includes('/')) {
      add(
        'argv',
        `"${name}" is a path: allow rules go by the bare name, so the rule could never fire`,
      );
    }
    const runs = isInterpreter(name)
      ? 'runs code'
      : RUNNERS.has(name) && !ALONE.has(name)
        ? 'runs what follows it'
        : null;
    if (runs !== null && (rule.exact !== true || globAt >= 0)) {
      add('argv', `${name} ${runs}: an allow rule for it says all its words`, 'add `exact: true`');
    }
  }
}

/** Runners that are looked through: what they run needs a rule of its own. */
const ALONE: ReadonlySet<string> = new Set([
  'find',
  'xargs',
  'env',
  'timeout',
  'nice',
  'nohup',
  'stdbuf',
  'command',
]);

function checkPath(rule: PermissionRule, path: PathPattern, add: Add): void {
  const { under, outside, glob } =
    typeof path === 'string' ? { under: undefined, outside: undefined, glob: path } : path;
  if (under !== undefined && outside !== undefined)
    add('path', 'has `under` or `outside`, not both');
  if (outside !== undefined && glob !== undefined) add('path', '`outside` takes no glob');
  if (outside !== undefined && rule.effect === 'allow')
    add('path', 'an allow rule names what it opens: use `under`');
  for (const where of [under, outside]) {
    if (where !== undefined && !/^(worktree|home|\/|~\/)/.test(where)) {
      add('path', `"${where}" is no folder`, 'worktree, home, ~/… or an absolute path');
    }
  }
  if (glob !== undefined) {
    if (glob.length > GLOB_CHARS_MAX || expandBraces(glob) === null)
      add('path', 'the glob is too long');
    if (glob === '' || /^(\/|~|\.\/)|(^|\/)\.\.(\/|$)|\\/.test(glob)) {
      add(
        'path',
        `the glob ${JSON.stringify(glob)} could never fire`,
        'globs are relative to the folder and use /: src/**',
      );
    }
    if (glob.includes('['))
      add('path', 'classes such as [a-z] are not used in globs here', 'list the choices: {a,b}');
  }
  if (rule.effect !== 'allow') return;
  const where = under ?? 'worktree';
  const folder =
    where === 'worktree'
      ? ['work']
      : where === 'home'
        ? HOME
        : where.startsWith('~/')
          ? [...HOME, ...namesOf(where.slice(2))]
          : namesOf(where);
  const tools = typeof rule.tool === 'string' ? [rule.tool] : rule.tool;
  const writes = tools.some(
    (tool) => tool !== 'read_file' && tool !== 'list_dir' && tool !== 'glob' && tool !== 'grep',
  );
  const examples = glob === undefined ? [''] : (expandBraces(glob) ?? []);
  for (const example of examples) {
    const names = [...folder, ...namesOf(example.replaceAll('**', 'x').replaceAll(/[*?]/g, 'x'))];
    const verdict = pathFloor(names, writes ? 'write' : 'read', { root: ['work'], home: HOME });
    const whole =
      writes &&
      where !== 'worktree' &&
      (names.length === 0 || (where === 'home' && example.startsWith('*')));
    if (verdict?.effect === 'deny' || whole || (writes && where === 'home' && glob === undefined)) {
      add(
        'path',
        `this covers protected paths, which no rule can open`,
        verdict?.reason ?? 'name a folder that is yours to give',
      );
      return;
    }
  }
}

const HOME = ['home', 'user'];

function checkHost(host: string, add: Add): void {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) {
    add(
      'host',
      `${JSON.stringify(host)} is no host name: the rule could never fire`,
      'write docs.example.org, or {domain: example.org} for all below it',
    );
  }
}

function runTests(file: PolicyFile, tests: PolicyTests, at: Path): PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const run = (list: readonly PolicyTest[], path: Path, actors: PolicyFile['actors']): void => {
    const policy = makePolicy(
      [{ name: 'user', origin: '', file: { ...file, actors }, trusted: true }],
      '',
    );
    for (const [index, test] of list.slice(0, TESTS_MAX).entries()) {
      const call = callOf(test);
      if (call === null) {
        findings.push({
          path: [...path, index],
          message: 'a test has one of bash, read, write, fetch, or tool with input',
        });
        continue;
      }
      const decision = evaluate(call, policy, {
        actor: 'test',
        root: '/work',
        home: '/home/user',
        attended: true,
        sandboxed: false,
      });
      if (decision.action !== test.expect)
        findings.push({ path: [...path, index, 'expect'], message: saysOtherwise(test, decision) });
    }
  };
  run(tests.rules, [...at, 'tests'], file.actors);
  for (const [name, list] of Object.entries(tests.profiles)) {
    run(list, [...at, 'profiles', name, 'tests'], { '*': { profile: name } });
  }
  return findings;
}

function saysOtherwise(test: PolicyTest, decision: Decision): string {
  return `the test expects ${test.expect}, and it is ${decision.action} by ${decision.rule}: ${decision.reason}`;
}

function callOf(test: PolicyTest): { tool: string; input: unknown } | null {
  const given = [test.bash, test.read, test.write, test.fetch, test.tool].filter(
    (one) => one !== undefined,
  );
  if (given.length !== 1) return null;
  if (test.bash !== undefined) return { tool: 'bash', input: { command: test.bash } };
  if (test.read !== undefined) return { tool: 'read_file', input: { path: test.read } };
  if (test.write !== undefined) return { tool: 'write_file', input: { path: test.write } };
  if (test.fetch !== undefined) return { tool: 'web_fetch', input: { url: test.fetch } };
  return { tool: test.tool ?? '', input: test.input ?? {} };
}
