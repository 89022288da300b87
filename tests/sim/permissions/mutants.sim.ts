/**
 * The guard with one stone taken out at a time: each protected path, wrapper, hazard and interpreter that is removed from
 * its table has to change the decision on some text of a list that is written down here, apart from the tables.
 */
import { describe, expect, test } from 'vitest';
import { evaluate, makePolicy, type Policy } from '../../../src/permissions/index.ts';
import {
  RUNS_LATER_FILES,
  RUNS_LATER_FOLDERS,
  SECRET,
  STARTS,
  SYSTEM,
} from '../../../src/permissions/path-floor.ts';
import { HAZARDS } from '../../../src/permissions/shell/git-options.ts';
import { INTERPRETERS, PROGRAMS } from '../../../src/permissions/shell/programs.ts';
import { WRAPPERS } from '../../../src/permissions/shell/wrappers.ts';
import type { PermissionRule } from '../../../src/protocol/team.ts';

const rule = (
  id: string,
  effect: 'allow' | 'deny',
  rest: Partial<PermissionRule>,
): PermissionRule => ({ id, effect, tool: 'bash', reason: null, ...rest });

/** Allows whatever can be allowed by rules, so that only the guard is left to say no. */
const names = [
  ...PROGRAMS.keys(),
  ...INTERPRETERS,
  ...WRAPPERS.keys(),
  'find',
  'tar',
  'npm',
  'dd',
  'git',
];
const policy: Policy = makePolicy(
  [
    {
      name: 'user',
      origin: 'mutants',
      trusted: true,
      file: {
        version: 1,
        defaults: {},
        actors: {},
        profiles: {},
        lift: [],
        rules: [
          rule('all', 'allow', { argv: [{ in: names }] }),
          rule('files', 'allow', { tool: ['read_file', 'write_file'], path: { under: '/' } }),
          rule('no', 'deny', { argv: ['zzz'] }),
        ],
      },
    },
  ],
  '',
);
const decide = (command: string): string => {
  const { action, reason } = evaluate({ tool: 'bash', input: { command } }, policy, {
    actor: 'a',
    root: '/w/a1',
    home: '/home/u',
    attended: true,
  });
  return `${action} ${reason}`;
};

/** Guarded twice, so that no single stone is missed; without it they must still not be allowed. */
const TWICE: ReadonlySet<string> = new Set(
  [
    'trap alias eval',
    'upload-pack receive-pack exec open-files-in-pager ext-diff textconv template x S',
  ].flatMap((one) => one.split(' ')),
);

function staysShut(set: ReadonlySet<string>, one: string, texts: readonly string[]): boolean {
  return removed(set, one, () => texts.every((text) => !decide(text).startsWith('allow')));
}

function removed<T>(set: ReadonlySet<T>, one: T, run: () => boolean): boolean {
  const open = set as Set<T>;
  open.delete(one);
  try {
    return run();
  } finally {
    open.add(one);
  }
}

/** Whether taking it away changes what is decided on any of these texts. */
function isMissed<T>(set: ReadonlySet<T>, one: T, texts: readonly string[]): boolean {
  const before = texts.map(decide);
  return removed(set, one, () => texts.some((text, at) => decide(text) !== before[at]));
}

const path = (part: string): string => `"${part}"`;

describe('P2: each protected path is missed when it is taken away', () => {
  test.each([...SECRET])('~/%s', (one) => {
    expect(
      isMissed(SECRET, one, [`cat ${path(`/home/u/${one}/x`)}`, `cat ${path(`/home/u/${one}`)}`]),
    ).toBe(true);
  });
  test.each([...STARTS])('~/%s', (one) => {
    expect(isMissed(STARTS, one, [`echo x > ${path(`/home/u/${one}`)}`])).toBe(true);
  });
  test.each([...SYSTEM])('/%s', (one) => {
    expect(isMissed(SYSTEM, one, [`echo x > /${one}/x`])).toBe(true);
  });
  test.each([...RUNS_LATER_FOLDERS])('%s/', (one) => {
    expect(isMissed(RUNS_LATER_FOLDERS, one, [`echo x > ${one}/x`])).toBe(true);
  });
  test.each([...RUNS_LATER_FILES])('%s', (one) => {
    expect(isMissed(RUNS_LATER_FILES, one, [`echo x > ${one}`])).toBe(true);
  });
});

/** Each wrapper with as many words of its own as it takes. */
const wrapped = (name: string): string[] => [
  ...['', '1 ', '-x 1 '].map((own) => `${name} ${own}zzz`),
  `true | ${name} zzz`,
];

test.each([...WRAPPERS.keys()])('P11: the wrapper %s is missed when it is taken away', (name) => {
  const wrapper = WRAPPERS.get(name);
  if (wrapper === undefined) throw new Error(name);
  const before = wrapped(name).map(decide);
  expect(before[0]?.startsWith('deny') || before[1]?.startsWith('deny'), before.join('\n')).toBe(
    true,
  );
  WRAPPERS.delete(name);
  try {
    expect(wrapped(name).some((text, at) => decide(text) !== before[at])).toBe(true);
  } finally {
    WRAPPERS.set(name, wrapper);
  }
});

const option = (name: string): string => (name.length === 1 ? `-${name}` : `--${name}`);
const hazards = [...PROGRAMS].flatMap(([name, program]) =>
  [...program.hazards].map((hazard) => [name, hazard, program] as const),
);

test.each(hazards)(
  'P10: %s with the hazard %s is missed when it is taken away',
  (name, hazard, program) => {
    const texts = [`${name} ${option(hazard)} x y`, `${name} ${option(hazard)}`];
    expect(texts.every((text) => !decide(text).startsWith('allow'))).toBe(true);
    expect(isMissed(program.hazards, hazard, texts)).toBe(true);
  },
);

const writes = [...PROGRAMS].flatMap(([name, program]) =>
  [...program.writes].map((one) => [name, one, program] as const),
);

test.each(writes)('P10: %s writes where its option %s says', (name, one, program) => {
  const texts = [`${name} ${option(one)} /home/u/.bashrc y`];
  expect(texts.map(decide)[0]).toMatch(/^deny/);
  // A name that is the start of another stands for that one as well.
  const short = [...program.writes].some(
    (other) => other !== one && one.length > 1 && other.startsWith(one),
  );
  if (!short) expect(isMissed(program.writes, one, texts)).toBe(true);
});

test.each([...INTERPRETERS])('P10: the interpreter %s is missed when it is taken away', (name) => {
  const texts = [`${name} x`, `${name} -c 'zzz'`];
  expect(texts.every((text) => !decide(text).startsWith('allow'))).toBe(true);
  if (TWICE.has(name)) expect(staysShut(INTERPRETERS, name, texts)).toBe(true);
  else expect(isMissed(INTERPRETERS, name, texts)).toBe(true);
});

test.each([...HAZARDS])('P10: the hazard %s of git is missed when it is taken away', (one) => {
  const texts = ['log', 'grep', 'commit', 'rebase', 'diff', 'archive', 'ls-remote'].map(
    (command) => `git ${command} ${option(one)} x`,
  );
  const runs = texts.filter((text) => !decide(text).startsWith('allow'));
  expect(runs.length).toBeGreaterThan(0);
  if (TWICE.has(one)) expect(staysShut(HAZARDS, one, runs.slice(0, 1))).toBe(true);
  else expect(isMissed(HAZARDS, one, texts)).toBe(true);
});
