/**
 * An agent profile in a Markdown file: the body is its prompt, the front matter says the rest. Ours are strict. Those of
 * Claude Code are read for what we know of them; what they grant and we cannot understand is an error, never "all tools".
 */
import * as z from 'zod';
import { NAME, nearMatches } from '../kernel/ids.ts';
import type { AgentProfile } from '../protocol/team.ts';
import { CLAUDE_MODEL_NAMES, CLAUDE_TOOL_NAMES, claudeModel, claudeTool } from './claude-names.ts';
import { type Frontmatter, readFrontmatter } from './frontmatter.ts';
import { FALLBACKS_MAX, WINDOW_MAX, WINDOW_MIN } from './limits.ts';
import { didYouMean, type Finding, type Problem } from './problem.ts';
import { mergeProfile, RESERVED_PROFILES, type SkillNames, unknownSkill } from './profiles.ts';
import { planRule, type RawAgent, share } from './raw-team.ts';
import { findingsOf, model, name, object, quote, text, whole } from './schema.ts';

export interface ProfileFileOptions {
  /** Name of the file without `.md`: the profile's own name unless it says another. */
  readonly stem: string;
  readonly form: 'troupe' | 'claude';
  /** Names of the tools that exist. */
  readonly tools: readonly string[];
  readonly skills: SkillNames;
  /** The profile of a name that is there without this file. */
  readonly below: (name: string) => AgentProfile | undefined;
}

export interface ProfileModel extends Pick<Problem, 'path' | 'line' | 'column'> {
  readonly model: string;
}

export type ParsedProfile =
  | {
      readonly kind: 'ok';
      readonly profile: AgentProfile;
      /** Models that it names, with their places. */
      readonly models: readonly ProfileModel[];
      readonly warnings: readonly Problem[];
    }
  /** `name`: of the profile that the file would be. */
  | { readonly kind: 'problems'; readonly name: string; readonly problems: readonly Problem[] };

/** Never throws for what the file contains. */
export function parseProfile(
  source: string | Uint8Array,
  options: ProfileFileOptions,
): ParsedProfile {
  const file = readFrontmatter(source, { lenient: options.form === 'claude' });
  if (file.kind === 'problems') return { ...file, name: options.stem };
  const read = options.form === 'claude' ? readClaude(file, options) : readOwn(file, options);
  const { agent, name: called, findings, warnings } = read;
  const errors = [...findings, ...nameFindings(called)];
  const below = options.form === 'claude' ? undefined : options.below(called);
  if (file.body === '' && (below?.prompt ?? '') === '') {
    const message = 'there is no prompt: the text after the front matter is the prompt';
    errors.push({ path: [], message });
  }
  if (errors.length > 0) {
    return { kind: 'problems', name: called, problems: file.locateAll(errors) };
  }
  const prompt = file.body === '' ? undefined : file.body;
  return {
    kind: 'ok',
    profile: mergeProfile(called, { ...agent, prompt }, below),
    models: modelsOf(agent, file),
    warnings: [...file.odd, ...warnings.map(file.locate)],
  };
}

interface Read {
  readonly name: string;
  readonly agent: RawAgent;
  readonly findings: readonly Finding[];
  readonly warnings: readonly Finding[];
}

const words = z.union([z.string(), z.array(text)]);

const own = object({
  name: name.optional(),
  description: z.string().optional(),
  model: model.optional(),
  fallback: z.array(model).max(FALLBACKS_MAX).optional(),
  tools: words.optional(),
  skills: words.optional(),
  plan: planRule.optional(),
  budget: share.optional(),
  window: whole(WINDOW_MIN, WINDOW_MAX).optional(),
  restart: z.enum(['permanent', 'transient', 'temporary']).optional(),
});

function readOwn(file: Frontmatter, options: ProfileFileOptions): Read {
  const checked = own.safeParse(file.fields);
  if (!checked.success) {
    const findings = findingsOf(checked.error.issues, file.fields);
    return { name: options.stem, agent: {}, findings, warnings: [] };
  }
  const { name: called = options.stem, tools, skills, ...rest } = checked.data;
  const named = listOf(tools);
  const findings = (named ?? []).flatMap((tool, index): Finding[] => {
    if (options.tools.includes(tool)) return [];
    const path = Array.isArray(tools) ? ['tools', index] : ['tools'];
    return [
      { path, message: `there is no tool ${quote(tool)}`, hint: choices(tool, options.tools) },
    ];
  });
  const chosen = skillsOf(skills, options);
  return {
    name: called,
    agent: { ...rest, tools: named, skills: chosen.skills },
    findings: [...findings, ...chosen.unknown],
    warnings: chosen.untrusted,
  };
}

/** Keys that it has besides are for Claude Code. */
const claude = z.looseObject({
  name: z.string().optional(),
  description: z.string().nullable().optional(),
  model: z.string().nullable().optional(),
  tools: words.nullable().optional(),
  disallowedTools: words.nullable().optional(),
  skills: words.nullable().optional(),
});

function readClaude(file: Frontmatter, options: ProfileFileOptions): Read {
  const checked = claude.safeParse(file.fields);
  if (!checked.success) {
    const findings = findingsOf(checked.error.issues, file.fields);
    return { name: options.stem, agent: {}, findings, warnings: [] };
  }
  const { name: called = options.stem, description, model: given, tools, skills } = checked.data;
  const findings: Finding[] = [];
  const warnings: Finding[] = [];
  const wanted = given === null || given === undefined ? null : claudeModel(given.trim());
  if (wanted === undefined) {
    const hint = `choose ${CLAUDE_MODEL_NAMES.join(', ')}, claude-…, or provider/model`;
    findings.push({ path: ['model'], message: `there is no model ${quote(given ?? '')}`, hint });
  }
  const allowed = claudeTools(tools, { path: 'tools', options, findings, warnings });
  const { disallowedTools } = checked.data;
  const denied = claudeTools(disallowedTools, {
    path: 'disallowedTools',
    options,
    findings,
    // A tool that is not here is not missed where it is taken away.
    warnings: [],
  });
  const left =
    denied === undefined
      ? allowed
      : (allowed ?? options.tools).filter((tool) => !denied.includes(tool));
  const chosen = skillsOf(skills ?? undefined, options);
  const agent = {
    description: description ?? '',
    model: wanted ?? undefined,
    tools: left,
    skills: chosen.skills,
  };
  // Skills of another program may lie where we do not look.
  const missed = [...chosen.unknown, ...chosen.untrusted];
  return { name: called, agent, findings, warnings: [...warnings, ...missed] };
}

function claudeTools(
  given: string | readonly string[] | null | undefined,
  to: {
    readonly path: string;
    readonly options: ProfileFileOptions;
    readonly findings: Finding[];
    readonly warnings: Finding[];
  },
): string[] | undefined {
  const { path, options, findings, warnings } = to;
  const named = listOf(given ?? undefined);
  if (named === undefined || (named.length === 1 && named[0] === '*')) return undefined;
  const found = new Set<string>();
  for (const [index, word] of named.entries()) {
    const at = Array.isArray(given) ? [path, index] : [path];
    if (options.tools.includes(word)) {
      found.add(word);
      continue;
    }
    const tool = claudeTool(word);
    if (tool.kind === 'unknown') {
      const hint = choices(word, [...CLAUDE_TOOL_NAMES, ...options.tools]);
      findings.push({ path: at, message: `there is no tool ${quote(word)}`, hint });
      continue;
    }
    const here =
      tool.kind === 'ours' ? tool.tools.filter((one) => options.tools.includes(one)) : [];
    for (const one of here) found.add(one);
    if (here.length === 0) {
      warnings.push({
        path: at,
        message: `${quote(word)} has no counterpart here and is left out`,
      });
    } else if (tool.kind === 'ours' && tool.narrowed) {
      const message = `${quote(word)} is the tool ${here.join(', ')}; what it may run is for your permissions to say`;
      warnings.push({ path: at, message });
    }
  }
  return [...found];
}

interface ChosenSkills {
  readonly skills: readonly string[] | undefined;
  readonly unknown: readonly Finding[];
  readonly untrusted: readonly Finding[];
}

/** Those that there are. One that is not trusted is not missed: it comes with the trust. */
function skillsOf(
  given: string | readonly string[] | undefined,
  { skills }: ProfileFileOptions,
): ChosenSkills {
  const named = listOf(given);
  const unknown: Finding[] = [];
  const untrusted: Finding[] = [];
  for (const [index, skill] of (named ?? []).entries()) {
    const path = Array.isArray(given) ? ['skills', index] : ['skills'];
    if (skills.known.includes(skill)) continue;
    const finding = { path, ...unknownSkill(skill, skills) };
    (skills.untrusted.includes(skill) ? untrusted : unknown).push(finding);
  }
  const left = named?.filter((skill) => skills.known.includes(skill));
  return { skills: left, unknown, untrusted };
}

/** `a, b c` or a list. */
function listOf(given: string | readonly string[] | undefined): string[] | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'string') return given.map((one) => one.trim());
  // Commas and spaces within parentheses belong to the word.
  return [...given.matchAll(/[^\s,()]+(?:\([^)]*\))?/g)].map(([word]) => word);
}

function choices(word: string, known: readonly string[]): string | undefined {
  const near = nearMatches(word, known);
  return near.length > 0 ? didYouMean(near) : `there are: ${known.join(', ')}`;
}

function nameFindings(called: string): Finding[] {
  if (RESERVED_PROFILES.includes(called)) {
    return [{ path: ['name'], message: `"${called}" is a reserved name` }];
  }
  if (NAME.test(called)) return [];
  const hint =
    'a name is made of a-z, 0-9, - and _, starts with a letter or digit, and has at most 48';
  return [{ path: ['name'], message: `${quote(called)} is no name of a profile`, hint }];
}

function modelsOf(agent: RawAgent, file: Frontmatter): ProfileModel[] {
  const place = (path: readonly (string | number)[], one: string): ProfileModel => {
    const { message: _, ...at } = file.locate({ path, message: '' });
    return { model: one, ...at };
  };
  const fallback = (agent.fallback ?? []).map((one, index) => place(['fallback', index], one));
  return agent.model === undefined ? fallback : [place(['model'], agent.model), ...fallback];
}
