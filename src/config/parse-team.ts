/**
 * A team file from its bytes to a `Team`, or to the list of all that is wrong with it, each with line and column. Pure: the
 * files that it names (scripts, profiles) are read by the caller.
 */
import type { AgentProfile, TaskSpec, Team } from '../protocol/team.ts';
import { readDocument } from './document.ts';
import { DEFAULTS } from './limits.ts';
import { type CheckPolicy, ruleLines } from './policy-file.ts';
import { type Finding, type Path, type Problem, parsePath } from './problem.ts';
import type { SkillNames } from './profiles.ts';
import { type RawTeam, teamSchema } from './raw-team.ts';
import { resolveTeam, type TeamDefaults } from './resolve-team.ts';
import { findingsOf } from './schema.ts';

export interface ParseTeamOptions {
  /** Says what is wrong with the graph (room `tasks`), with paths such as `tasks[2].needs[0]`. */
  readonly checkTasks: (
    tasks: readonly TaskSpec[],
  ) => readonly { readonly path: string; readonly message: string }[];
  /** Profiles from files, by name. */
  readonly profiles?: Readonly<Record<string, AgentProfile>>;
  /** Why profiles of these names can't be used. */
  readonly unusable?: Readonly<Record<string, string>>;
  /** What the config says where the team file says nothing. */
  readonly defaults?: TeamDefaults;
  /** Names of the tools that exist, to check those of profiles. */
  readonly tools?: readonly string[];
  /** Likewise. */
  readonly skills?: SkillNames;
  /** Says what is wrong with the permissions (room `permissions`). */
  readonly checkPolicy?: CheckPolicy;
}

/** A model that the file names, with its place, for those who look whether it can be had. */
export interface ModelRef extends Pick<Problem, 'path' | 'line' | 'column'> {
  readonly model: string;
}

export type ParsedTeam =
  | {
      readonly kind: 'ok';
      readonly team: Team;
      readonly warnings: readonly Problem[];
      readonly models: readonly ModelRef[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

const NO_DEFAULTS: TeamDefaults = {
  model: null,
  limits: {
    parallel: DEFAULTS.parallel,
    turns: DEFAULTS.turns,
    depth: DEFAULTS.depth,
    fanout: DEFAULTS.fanout,
  },
  treesRoot: null,
};

/** Never throws for what the file contains. Problems come in the order of the file. */
export function parseTeam(source: string | Uint8Array, options: ParseTeamOptions): ParsedTeam {
  const document = readDocument(source);
  if (document.kind === 'problems') return document;
  const { value, locate } = document;
  const problems = (findings: readonly Finding[]): ParsedTeam => ({
    kind: 'problems',
    problems: document.locateAll(findings),
  });
  if (value === undefined) {
    const hint = '`troupe init` writes a team file to start from';
    return problems([{ path: [], message: 'the file is empty', hint }]);
  }
  const version = checkVersion(value);
  if (version !== null) return problems([version]);
  const checked = teamSchema.safeParse(value);
  if (!checked.success) return problems(findingsOf(checked.error.issues, value));
  const resolved = resolveTeam(checked.data, {
    profiles: options.profiles ?? {},
    unusable: options.unusable,
    defaults: options.defaults ?? NO_DEFAULTS,
    tools: options.tools,
    skills: options.skills,
    checkPolicy: options.checkPolicy,
  });
  const graph = options
    .checkTasks(resolved.team.tasks)
    .map(({ path, message }): Finding => ({ path: parsePath(path), message }));
  const errors = [...resolved.errors, ...graph];
  if (errors.length > 0) return problems(errors);
  return {
    kind: 'ok',
    team: withLines(resolved.team, checked.data, locate),
    warnings: resolved.warnings.map(locate),
    models: modelsOf(checked.data).map(({ model, path }) => {
      const { message: _, ...place } = locate({ path, message: '' });
      return { model, ...place };
    }),
  };
}

function withLines(team: Team, raw: RawTeam, locate: (finding: Finding) => Problem): Team {
  const { permissions } = team;
  if (permissions.rules.length === 0 && permissions.policy === undefined) return team;
  const lines = ruleLines(raw.permissions ?? {}, ['permissions'], locate);
  return { ...team, permissions: { ...permissions, lines } };
}

/** A file of a later version is not measured by the rules of this one. */
function checkVersion(value: unknown): Finding | null {
  if (typeof value !== 'object' || value === null || !('version' in value)) return null;
  const { version } = value;
  if (typeof version !== 'number' || version <= 1) return null;
  const message = `this file is of version ${version}, and this Troupe reads version 1 only`;
  return { path: ['version'], message, hint: 'update troupe' };
}

function modelsOf(raw: RawTeam): { model: string; path: Path }[] {
  const found: { model: string; path: Path }[] = [];
  if (raw.model !== undefined) found.push({ model: raw.model, path: ['model'] });
  for (const [name, agent] of Object.entries(raw.agents ?? {})) {
    if (agent.model !== undefined) {
      found.push({ model: agent.model, path: ['agents', name, 'model'] });
    }
    for (const [index, one] of (agent.fallback ?? []).entries()) {
      found.push({ model: one, path: ['agents', name, 'fallback', index] });
    }
  }
  return found;
}
