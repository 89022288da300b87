import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { AgentProfile, SkillFile } from '../../../src/protocol/index.ts';
import {
  discoverSkills,
  inUse,
  loadSkill,
  type SkillLevel,
  skillCatalogue,
  skillsFor,
} from '../../../src/skills/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';

let files: MemoryFiles;
beforeEach(() => {
  files = new MemoryFiles();
});

const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

async function put(path: string, text: string): Promise<void> {
  await files.makeDirectory(path.slice(0, path.lastIndexOf('/')));
  await files.remove(path);
  const handle = await files.open(path, 'create');
  handle.write(new TextEncoder().encode(text));
  await handle.close();
}

const text = (name: string, what: string): string =>
  `---\nname: ${name}\ndescription: ${what}\n---\nBody of ${what}.`;

const LEVELS: readonly SkillLevel[] = [
  { folder: '/r/.troupe/skills', from: 'repository', shown: '.troupe/skills', within: '/r' },
  { folder: '/u/skills', from: 'user', shown: '/u/skills', within: null },
  { folder: '/s', from: 'shipped', shown: '/s', within: null },
];
const find = (): ReturnType<typeof discoverSkills> => discoverSkills({ files, sha256 }, LEVELS);

test('the nearest skill of a name has the word, the repository only when its content is trusted (K1, K2)', async () => {
  await put('/s/review/SKILL.md', text('review', 'shipped'));
  await put('/u/skills/review/SKILL.md', text('review', 'user'));
  await put('/r/.troupe/skills/review/SKILL.md', text('review', 'repository'));
  await put('/r/.troupe/skills/review/references/more.md', 'more');
  const found = await find();
  const digest = found[0]?.sha256;
  const described = (trusts: (hash: string | null) => boolean): string[] =>
    inUse(found, (one) => trusts(one.sha256)).map((skill) => skill.description);
  expect(described(() => false)).toEqual(['user']);
  expect(described((hash) => hash === digest)).toEqual(['repository']);
  // Any change of any file of it is other content.
  await put('/r/.troupe/skills/review/references/more.md', 'other');
  expect((await find())[0]?.sha256).not.toBe(digest);
});

test('broken skills, plain files and empty folders hide nothing', async () => {
  await put('/u/skills/review/SKILL.md', 'no front matter');
  await put('/u/skills/README.md', 'x');
  await put('/u/skills/empty/notes.md', 'x');
  await put('/s/review/SKILL.md', text('review', 'shipped'));
  const found = await find();
  expect(found.map(({ shown, skill }) => [shown, skill?.name])).toEqual([
    ['/u/skills/review/SKILL.md', undefined],
    ['/s/review/SKILL.md', 'review'],
  ]);
  expect(inUse(found, () => true).map(({ from }) => from)).toEqual(['shipped']);
});

const skill = (name: string, more: Partial<SkillFile> = {}): SkillFile => ({
  name,
  description: `does ${name}`,
  body: 'Do it.',
  from: 'user',
  root: `/u/skills/${name}`,
  files: [],
  ...more,
});
const profile = (skills?: readonly string[]): AgentProfile => ({
  name: 'p',
  description: '',
  prompt: '',
  model: null,
  tools: null,
  restart: 'transient',
  ...(skills === undefined ? {} : { skills }),
});

test('a profile has the skills that it names, or all, or none', () => {
  const all = [skill('a'), skill('b')];
  expect(skillsFor(profile(), all)).toEqual(all);
  expect(skillsFor(profile(['b']), all)).toEqual([all[1]]);
  expect(skillsFor(profile([]), all)).toEqual([]);
  expect(skillCatalogue([])).toBe('');
  expect(skillCatalogue(all)).toContain('- a: does a\n- b: does b');
});

test('the catalogue keeps its bound and every name', () => {
  const many = Array.from({ length: 150 }, (_, index) =>
    skill(`skill-${index}`, { description: index % 2 === 0 ? 'short' : 'long '.repeat(200) }),
  );
  const told = skillCatalogue(many);
  expect(told.length).toBeLessThan(13_000);
  expect(told.match(/^- skill-/gm)).toHaveLength(150);
  expect(told).toContain('- skill-148: short');
});

test('a skill is loaded with its arguments as they are, and its files by whole paths', () => {
  const pdf = skill('pdf', { body: 'Read $ARGUMENTS ($ARGUMENTS).', files: ['references/r.md'] });
  expect(loadSkill([pdf], { name: 'pdf', arguments: '$& and `x`' })).toEqual({
    ok: true,
    text: expect.stringContaining('Read $& and `x` ($& and `x`).'),
  });
  expect(loadSkill([pdf], { name: 'pdf' }).text).toContain('- /u/skills/pdf/references/r.md');
  expect(loadSkill([skill('a')], { name: 'a', arguments: 'this' }).text).toContain(
    'Do it.\n\nArguments: this',
  );
  expect(loadSkill([pdf], { name: 'pfd' })).toEqual({
    ok: false,
    text: 'there is no skill "pfd"; did you mean pdf?',
  });
});
