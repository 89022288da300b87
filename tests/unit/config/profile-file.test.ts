import { describe, expect, test } from 'vitest';
import { BUILT_IN_PROFILES, formatProblem, parseProfile } from '../../../src/config/index.ts';
import { TOOL_NAMES } from '../../../src/tools/index.ts';

function parse(
  text: string | Uint8Array,
  options: { form?: 'troupe' | 'claude'; stem?: string } = {},
): ReturnType<typeof parseProfile> {
  const below = (name: string): (typeof BUILT_IN_PROFILES)[string] | undefined =>
    Object.hasOwn(BUILT_IN_PROFILES, name) ? BUILT_IN_PROFILES[name] : undefined;
  return parseProfile(text, {
    stem: 'writer',
    form: 'troupe',
    tools: TOOL_NAMES,
    skills: { known: ['review'], untrusted: ['own'] },
    below,
    ...options,
  });
}

function problems(
  text: string | Uint8Array,
  options: { form?: 'troupe' | 'claude'; stem?: string } = {},
): string[] {
  const parsed = parse(text, options);
  if (parsed.kind === 'ok') throw new Error('it is fine');
  return parsed.problems.map((problem) => formatProblem('agents/writer.md', problem));
}

describe('our own form', () => {
  test('how long its conversations may be is its own, and bounded', () => {
    const parsed = parse('---\nwindow: 60000\n---\nWrite.\n', { stem: 'reviewer' });
    expect(parsed).toMatchObject({ kind: 'ok', profile: { name: 'reviewer', window: 60_000 } });
    expect(problems('---\nwindow: 100\n---\nWrite.\n')).toEqual([
      expect.stringContaining('agents/writer.md:2:9: window'),
    ]);
  });

  test('front matter says what, the body is the prompt', () => {
    const parsed = parse(
      '---\ndescription: Writes docs\ntools: [read_file, grep]\nmodel: openai/x\nskills: [review]\n---\n\n# Writer\nWrite.\n',
    );
    expect(parsed).toEqual({
      kind: 'ok',
      profile: {
        name: 'writer',
        description: 'Writes docs',
        prompt: '# Writer\nWrite.',
        model: 'openai/x',
        tools: ['read_file', 'grep'],
        skills: ['review'],
        restart: 'transient',
      },
      models: [{ model: 'openai/x', path: 'model', line: 4, column: 8 }],
      warnings: [],
    });
  });

  test('without front matter all of it is the prompt; with Windows line ends too', () => {
    const plain = parse('You write.\r\nBriefly.\r\n');
    expect(plain).toMatchObject({ kind: 'ok', profile: { prompt: 'You write.\nBriefly.' } });
    const windows = parse('---\r\ntools: grep, glob\r\n---\r\nYou write.\r\n');
    expect(windows).toMatchObject({
      kind: 'ok',
      profile: { prompt: 'You write.', tools: ['grep', 'glob'] },
    });
  });

  test('what it leaves out of a built-in profile stays as it is', () => {
    const parsed = parse('---\nmodel: openai/x\n---\n', { stem: 'reviewer' });
    expect(parsed).toMatchObject({
      kind: 'ok',
      profile: { ...BUILT_IN_PROFILES['reviewer'], model: 'openai/x' },
    });
  });

  test('F3: every mistake has its line in the file, and never gives all tools', () => {
    expect(problems('---\ndescripton: x\nmodel: gpt\nrestart: never\n---\nx')).toEqual([
      'agents/writer.md:2:1: descripton: unknown key "descripton" (did you mean description?)',
      'agents/writer.md:3:8: model: expected provider/model, such as anthropic/claude-sonnet-5-5, found "gpt"',
      'agents/writer.md:4:10: restart: expected permanent or transient or temporary, found "never"',
    ]);
    expect(problems('---\ntools:\n  - read_file\n  - raed_file\n---\nx')).toEqual([
      'agents/writer.md:4:5: tools[1]: there is no tool "raed_file" (did you mean read_file?)',
    ]);
    expect(problems('---\ntools: zzzzz\n---\nx')[0]).toContain('(there are: read_file, list_dir,');
    expect(problems('---\ndescription: x\n')).toEqual([
      'agents/writer.md:1:1: the front matter has no end: a second line `---` is missing',
    ]);
    expect(problems('---\n- a\n---\nx')).toEqual([
      'agents/writer.md:2:1: the front matter must be a mapping: `name: value` on each line',
    ]);
    expect(problems('---\ndescription: a: b\n---\nx')[0]).toContain('agents/writer.md:2:');
    expect(problems('---\ndescription: x\n---\n')).toEqual([
      'agents/writer.md:2:1: there is no prompt: the text after the front matter is the prompt',
    ]);
    expect(problems('---\nname: run\n---\nx')).toEqual([
      'agents/writer.md:2:7: name: "run" is a reserved name',
    ]);
    expect(problems('x', { stem: '../../evil' })[0]).toContain('is no name of a profile');
    expect(problems(new Uint8Array([0x61, 0, 0xff]))).toEqual([
      'agents/writer.md:1:2: this is no text file in UTF-8',
    ]);
  });

  test('front matter is data: an engine that it names is not run', () => {
    expect(parse('---js\nprocess.exit(1)\n---\nx')).toMatchObject({
      kind: 'ok',
      profile: { prompt: '---js\nprocess.exit(1)\n---\nx' },
    });
  });
});

describe('the form of Claude Code', () => {
  const claude = { form: 'claude' } as const;

  test('its tools and models are ours by another name; keys that we do not know are let be', () => {
    const parsed = parse(
      '---\nname: code-reviewer\ndescription: Use it when: code was written.\ntools: Read, Grep, Bash(git diff:*), WebSearch\nmodel: sonnet\ncolor: blue\nhooks: { Stop: [] }\n---\nReview it.',
      claude,
    );
    if (parsed.kind !== 'ok') throw new Error(parsed.problems[0]?.message);
    expect(parsed.profile).toEqual({
      name: 'code-reviewer',
      description: 'Use it when: code was written.',
      prompt: 'Review it.',
      model: 'anthropic/claude-sonnet-5-5',
      tools: ['read_file', 'grep', 'bash'],
      restart: 'transient',
    });
    expect(parsed.warnings.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      expect.stringMatching(/^3: this is no valid YAML/),
      '4: "Bash(git diff:*)" is the tool bash; what it may run is for your permissions to say',
      '4: "WebSearch" has no counterpart here and is left out',
    ]);
  });

  test('without tools it has those of its kind, less what it is denied; inherit is the team’s model', () => {
    const all = parse('---\nname: a\nmodel: inherit\n---\nx', claude);
    expect(all).toMatchObject({ kind: 'ok', profile: { tools: null, model: null } });
    const less = parse('---\nname: a\ndisallowedTools: Write, Edit, Bash\n---\nx', claude);
    if (less.kind !== 'ok') throw new Error('it is fine');
    expect(less.profile.tools).toContain('read_file');
    expect(less.profile.tools).not.toContain('write_file');
    expect(less.profile.tools).not.toContain('bash');
  });

  test('only tools that are not here leave none, never all', () => {
    const parsed = parse('---\nname: a\ntools: mcp__github__search, WebSearch\n---\nx', claude);
    expect(parsed).toMatchObject({ kind: 'ok', profile: { tools: [] } });
  });

  test('an unknown tool or model is an error that lists the choices', () => {
    expect(problems('---\nname: a\ntools: Reed\nmodel: gpt-9\n---\nx', claude)).toEqual([
      expect.stringContaining('agents/writer.md:3:8: tools: there is no tool "Reed" (did you mean'),
      'agents/writer.md:4:8: model: there is no model "gpt-9" (choose inherit, fable, haiku, opus, sonnet, claude-…, or provider/model)',
    ]);
    expect(problems('---\nname: Code Reviewer\n---\nx', claude)[0]).toContain(
      '"Code Reviewer" is no name of a profile',
    );
  });
});
