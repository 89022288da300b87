import { expect, test } from 'vitest';
import { formatProblem } from '../../../src/config/index.ts';
import { parseSkill } from '../../../src/skills/index.ts';

function problems(text: string, folder = 'pdf'): string[] {
  return parseSkill(text, folder).problems.map((problem) => formatProblem('SKILL.md', problem));
}

const skill = (head: string, body = 'Do it.'): string => `---\n${head}\n---\n${body}\n`;

test('what the specification wants has no problems', () => {
  const whole =
    'name: pdf\ndescription: Reads PDF files. Use for PDFs.\nlicense: MIT\ncompatibility: Needs poppler\nmetadata:\n  version: "1"\nallowed-tools: Read Bash(git:*)';
  expect(parseSkill(skill(whole), 'pdf')).toEqual({
    skill: { name: 'pdf', description: 'Reads PDF files. Use for PDFs.', body: 'Do it.' },
    problems: [],
    advice: [],
  });
  expect(problems(skill('name: pdf\ndescription: x\nallowed-tools: [Read, Grep]'))).toEqual([]);
  expect(problems(skill('name: größe\ndescription: x'), 'größe')).toEqual([]);
});

test.each([
  ['description: x', ['SKILL.md:2:1: name: is missing']],
  [
    'name: pdf',
    ['SKILL.md:2:1: description: is missing: it says what the skill does and when to use it'],
  ],
  [
    'name: pdf\ndescription: " "',
    ['SKILL.md:3:14: description: must be text that says what the skill does and when to use it'],
  ],
  [
    'name: PDF\ndescription: x',
    [
      'SKILL.md:2:7: name: must be lower case',
      'SKILL.md:2:7: name: must be the name of its folder, "pdf"',
    ],
  ],
  [
    'name: -pdf--x-\ndescription: x',
    [
      'SKILL.md:2:7: name: must not begin or end with a hyphen',
      'SKILL.md:2:7: name: must not have two hyphens in a row',
      'SKILL.md:2:7: name: must be the name of its folder, "pdf"',
    ],
  ],
  [
    'name: ../pdf\ndescription: x',
    [
      'SKILL.md:2:7: name: may have letters, digits and hyphens only',
      'SKILL.md:2:7: name: must be the name of its folder, "pdf"',
    ],
  ],
  ['name: 7\ndescription: x', ['SKILL.md:2:7: name: must be text']],
  [
    `name: pdf\ndescription: ${'x'.repeat(1025)}`,
    ['SKILL.md:3:14: description: must have at most 1024 characters, has 1025'],
  ],
  [
    `name: pdf\ndescription: x\ncompatibility: ${'x'.repeat(501)}`,
    ['SKILL.md:4:16: compatibility: must be text of 1 to 500 characters'],
  ],
  [
    'name: pdf\ndescription: x\nmetadata: { version: 1 }',
    ['SKILL.md:4:22: metadata.version: must be text: put it between quotes'],
  ],
  [
    'name: pdf\ndescription: x\nmetadata: []',
    ['SKILL.md:4:11: metadata: must be a mapping from text to text'],
  ],
  [
    'name: pdf\ndescription: x\nallowed-tools: { a: b }',
    ['SKILL.md:4:16: allowed-tools: must be text with spaces between the tools, or a list of text'],
  ],
  ['name: pdf\ndescription: x\nlicense: [MIT]', ['SKILL.md:4:10: license: must be text']],
  [
    'name: pdf\ndescription: x\nallowed_tools: Read',
    [
      'SKILL.md:4:1: allowed_tools: is no field of the specification (name, description, license, compatibility, metadata, allowed-tools)',
    ],
  ],
])('%s', (head, expected) => {
  expect(problems(skill(head))).toEqual(expected);
});

test('a file that is no skill at all is told with its place and can not be used', () => {
  for (const text of ['Do it.', '---\nname: pdf\n', '---\n- a\n---\nx', '---\na: [\n---\nx', '']) {
    const parsed = parseSkill(text, 'pdf');
    expect(parsed.skill).toBeNull();
    expect(parsed.problems.length).toBeGreaterThan(0);
  }
  const binary = parseSkill(new Uint8Array([0, 1, 2]), 'pdf');
  expect(binary.problems.map(({ message }) => message)).toEqual(['this is no text file in UTF-8']);
});

test('on load it is lenient: a wrong name, odd fields and a colon in the description do not lose it', () => {
  const parsed = parseSkill(
    skill('name: PDF tools\ndescription: Use when: a PDF is there\nmodel: x'),
    'pdf',
  );
  expect(parsed.skill).toMatchObject({ name: 'pdf', description: 'Use when: a PDF is there' });
  expect(parsed.problems.length).toBeGreaterThan(2);
});

test('long or empty instructions are advised against, with their line', () => {
  const long = parseSkill(skill('name: pdf\ndescription: x', 'a\n'.repeat(600)), 'pdf');
  expect(long.problems).toEqual([]);
  expect(long.advice).toMatchObject([{ line: 5 }]);
  expect(parseSkill(skill('name: pdf\ndescription: x', ''), 'pdf').advice).toHaveLength(1);
});
