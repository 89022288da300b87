/**
 * From the team file as written to the `Team` that runs: every default filled in, every name found. Collects all that is
 * wrong; the result means something only when nothing is.
 */
import { asActorName, asTaskId, LEAD, nearMatches, RESERVED_NAMES } from '../kernel/ids.ts';
import type {
  AgentProfile,
  Budget,
  Gate,
  Limits,
  MemberSpec,
  SandboxSettings,
  TaskSpec,
  Team,
} from '../protocol/team.ts';
import { DURATION_RULE, parseDuration } from './duration.ts';
import { resolveHooks } from './hooks.ts';
import { DEFAULTS } from './limits.ts';
import { type CheckPolicy, examplesOf, resolvePolicy } from './policy-file.ts';
import { didYouMean, type Finding, type Path } from './problem.ts';
import {
  BUILT_IN_PROFILES,
  mergeProfile,
  planOf,
  RESERVED_PROFILES,
  type SkillNames,
  shareOf,
  unknownSkill,
} from './profiles.ts';
import type { RawGate, RawTask, RawTeam, RawTeamLimits } from './raw-team.ts';
import { resolveSandbox } from './sandbox.ts';
import { quote } from './schema.ts';

export interface TeamDefaults {
  readonly model: string | null;
  /** Stands in for the fallback of profiles that name none. */
  readonly fallback?: readonly string[];
  readonly limits: Limits;
  readonly sandbox?: SandboxSettings;
  /** Root of the trees. */
  readonly treesRoot: string | null;
}

export interface ResolveOptions {
  /** Profiles from files, by name; they go before the built-in ones, the team file's own before both. */
  readonly profiles: Readonly<Record<string, AgentProfile>>;
  readonly defaults: TeamDefaults;
  /** Names of tools that exist; not checked when left out. */
  readonly tools: readonly string[] | undefined;
  /** Not checked when left out. */
  readonly skills?: SkillNames | undefined;
  /** Says what is wrong with the permissions (room `permissions`). */
  readonly checkPolicy?: CheckPolicy | undefined;
  /** Why profiles of these names can't be used. */
  readonly unusable?: Readonly<Record<string, string>> | undefined;
}

interface Context {
  readonly errors: Finding[];
  readonly warnings: Finding[];
  readonly agents: Readonly<Record<string, AgentProfile>>;
  readonly check: CheckPolicy | undefined;
  readonly unusable: Readonly<Record<string, string>>;
}

export interface Resolved {
  readonly team: Team;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

export function resolveTeam(raw: RawTeam, options: ResolveOptions): Resolved {
  const errors: Finding[] = refuseLater(raw);
  const agents = resolveAgents(raw, options, errors);
  const context: Context = {
    errors,
    warnings: [],
    agents,
    check: options.checkPolicy,
    unusable: options.unusable ?? {},
  };
  const goal = raw.goal ?? null;
  const rawTasks = raw.tasks ?? [];
  if (goal === null && rawTasks.length === 0) {
    const path = raw.tasks === undefined ? [] : ['tasks'];
    errors.push({ path, message: 'there is nothing to do', hint: 'give a goal, or tasks' });
  }
  const tasks = rawTasks.map((task, index) => resolveTask(context, task, index));
  const members = resolveMembers(context, raw, goal !== null && rawTasks.length === 0);
  const { defaults } = options;
  const from = { prefix: 'team', origin: 'the team file', path: ['hooks'] };
  const hooks = resolveHooks(raw.hooks ?? [], from, errors);
  const team: Team = {
    version: 1,
    name: raw.name,
    goal,
    model: raw.model ?? defaults.model,
    budget: resolveBudget(context, raw),
    limits: { ...defaults.limits, ...limitsOf(raw.limits ?? {}) },
    base: raw.base ?? 'HEAD',
    worktree: {
      setup: raw.worktree?.setup ?? [],
      copy: raw.worktree?.copy ?? [],
      link: raw.worktree?.link ?? [],
      ...treeOptions(context, raw),
      root: raw.worktree?.root ?? defaults.treesRoot,
    },
    agents,
    ...members,
    tasks,
    merge: {
      style: raw.merge?.style ?? 'merge',
      verify: resolveGates(context, raw.merge?.verify, ['merge', 'verify']),
      touches: raw.merge?.touches ?? 'warn',
    },
    finish: { verify: resolveGates(context, raw.finish?.verify, ['finish', 'verify']) },
    permissions: resolvePermissions(context, raw),
    sandbox: resolveSandbox(raw.sandbox, defaults.sandbox),
    ...(hooks.length === 0 ? {} : { hooks }),
  };
  return { team, errors, warnings: context.warnings };
}

/** A cone and a pool; written down only where somebody asked for them. */
function treeOptions(context: Context, raw: RawTeam): Pick<Team['worktree'], 'sparse' | 'pool'> {
  const sparse = (raw.worktree?.sparse ?? []).map((folder) =>
    folder.replace(/^(?:\.\/)+/, '').replace(/\/+$/, ''),
  );
  const { pool = 0 } = raw.worktree ?? {};
  if (pool > 0 && sparse.length > 0) {
    const message = 'has no effect with `sparse`: such a tree is made as fast';
    context.warnings.push({ path: ['worktree', 'pool'], message, at: 'key' });
  }
  return { ...(sparse.length === 0 ? {} : { sparse }), ...(pool === 0 ? {} : { pool }) };
}

/** Without the keys that are undefined. */
function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> };
function defined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}

/** Keys that are part of the format but not of this version: refused rather than ignored. */
function refuseLater(raw: RawTeam): Finding[] {
  const found: Finding[] = [];
  const refuse = (path: Path, value: unknown): void => {
    const empty =
      value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (!empty) found.push({ path, message: 'is not available in this version', at: 'key' });
  };
  refuse(['mcp'], raw.mcp);
  return found;
}

function resolveAgents(
  raw: RawTeam,
  options: ResolveOptions,
  errors: Finding[],
): Readonly<Record<string, AgentProfile>> {
  const agents: Record<string, AgentProfile> = { ...BUILT_IN_PROFILES, ...options.profiles };
  for (const [name, own] of Object.entries(raw.agents ?? {})) {
    const path = ['agents', name];
    if (RESERVED_PROFILES.includes(name)) {
      errors.push({ path, message: `"${name}" is a reserved name`, at: 'key' });
    }
    const base = Object.hasOwn(agents, name) ? agents[name] : undefined;
    if (base === undefined && own.prompt === undefined) {
      const hint = `a new profile needs one; ${Object.keys(BUILT_IN_PROFILES).join(', ')} are built in`;
      errors.push({ path: [...path, 'prompt'], message: 'is missing', hint });
    }
    for (const [index, tool] of (own.tools ?? []).entries()) {
      if (options.tools === undefined || options.tools.includes(tool)) continue;
      const near = nearMatches(tool, options.tools);
      const hint = near.length > 0 ? didYouMean(near) : `there are: ${options.tools.join(', ')}`;
      const message = `there is no tool ${quote(tool)}`;
      errors.push({ path: [...path, 'tools', index], message, hint });
    }
    for (const [index, skill] of (own.skills ?? []).entries()) {
      if (options.skills === undefined || options.skills.known.includes(skill)) continue;
      errors.push({ path: [...path, 'skills', index], ...unknownSkill(skill, options.skills) });
    }
    agents[name] = mergeProfile(name, own, base);
  }
  const { fallback = [] } = options.defaults;
  if (fallback.length === 0) return agents;
  return Object.fromEntries(
    Object.entries(agents).map(([name, agent]) => [name, { fallback, ...agent }]),
  );
}

function checkAgent(context: Context, agent: string, path: Path): void {
  if (Object.hasOwn(context.agents, agent)) return;
  const names = Object.keys(context.agents).toSorted();
  const near = nearMatches(agent, names);
  const unusable = Object.hasOwn(context.unusable, agent) ? context.unusable[agent] : undefined;
  const hint = unusable ?? (near.length > 0 ? didYouMean(near) : `there are: ${names.join(', ')}`);
  context.errors.push({ path, message: `there is no agent profile ${quote(agent)}`, hint });
}

function resolveTask(context: Context, task: RawTask, index: number): TaskSpec {
  const path: Path = ['tasks', index];
  if (task.agent !== undefined) {
    checkAgent(context, task.agent, [...path, 'agent']);
    if (task.run !== undefined) {
      const message = 'has no effect: a command task needs no agent';
      context.warnings.push({ path: [...path, 'agent'], message, at: 'key' });
    }
  }
  checkPlan(context, task, [...path, 'plan']);
  return {
    id: asTaskId(task.id),
    title: task.title ?? task.id,
    prompt: task.prompt ?? null,
    run: task.run ?? null,
    needs: (task.needs ?? []).map(asTaskId),
    agent: task.agent ?? null,
    touches: task.touches ?? [],
    verify: resolveGates(context, task.verify, [...path, 'verify']),
    attempts: task.attempts ?? DEFAULTS.attempts,
    timeoutMs: milliseconds(context, task.timeout, [...path, 'timeout']) ?? DEFAULTS.taskTimeoutMs,
    ...planOf(task.plan),
    ...shareOf(task.budget),
  };
}

/** Words about plans that can't both hold, or that nobody would follow. */
function checkPlan(context: Context, task: RawTask, path: Path): void {
  if (task.plan === undefined) return;
  if (task.run !== undefined) {
    const message = 'has no effect: a command task makes no plan';
    context.warnings.push({ path, message, at: 'key' });
    return;
  }
  const profile = Object.hasOwn(context.agents, task.agent ?? '')
    ? context.agents[task.agent ?? '']
    : undefined;
  if (task.plan !== 'required' || profile?.plan !== 'never') return;
  const message = `is required, but its profile ${quote(profile.name)} says never`;
  context.errors.push({ path, message, hint: 'take one of the two away' });
}

function resolveGates(
  context: Context,
  gates: readonly (string | RawGate)[] | undefined,
  path: Path,
): Gate[] {
  return (gates ?? []).flatMap((gate, index): Gate[] => {
    const at = [...path, index];
    const timeoutMs = DEFAULTS.gateTimeoutMs;
    if (typeof gate === 'string') return [{ kind: 'command', run: gate, retries: 0, timeoutMs }];
    if (gate.review !== undefined) return reviewGate(context, { ...gate, review: gate.review }, at);
    if (gate.run === undefined) {
      const message = 'this gate names nothing to run';
      context.errors.push({ path: at, message, hint: 'give it `run`, or `review` with a profile' });
      return [];
    }
    const own = milliseconds(context, gate.timeout, [...at, 'timeout']);
    const { run, retries = 0 } = gate;
    return [{ kind: 'command', run, retries, timeoutMs: own ?? timeoutMs }];
  });
}

/** A review is of one task's diff: a gate of the merge or of the run has none. */
function reviewGate(
  context: Context,
  gate: RawGate & { readonly review: string },
  at: Path,
): Gate[] {
  const refuse = (message: string, hint: string): Gate[] => {
    context.errors.push({ path: [...at, 'review'], message, hint, at: 'key' });
    return [];
  };
  if (at[0] !== 'tasks') return refuse('reviews the work of a task', 'put it into its `verify`');
  if (gate.run !== undefined) return refuse('is one gate, `run` another', 'make two of them');
  if (gate.retries !== undefined) {
    return refuse('is not tried again', 'take `retries` away; findings go back to the author');
  }
  checkAgent(context, gate.review, [...at, 'review']);
  const timeoutMs = milliseconds(context, gate.timeout, [...at, 'timeout']);
  return [{ kind: 'review', profile: gate.review, ...(timeoutMs === null ? {} : { timeoutMs }) }];
}

function milliseconds(context: Context, text: string | undefined, path: Path): number | null {
  if (text === undefined) return null;
  const ms = parseDuration(text);
  if (ms === null) {
    const message = `${DURATION_RULE}, longer than nothing and at most 24d; found ${quote(text)}`;
    context.errors.push({ path, message });
  }
  return ms;
}

function resolveMembers(
  context: Context,
  raw: RawTeam,
  goalOnly: boolean,
): { readonly lead: MemberSpec | null; readonly teammates: readonly MemberSpec[] } {
  const own = raw.members?.lead;
  const lead = own === undefined && !goalOnly ? null : { name: LEAD, agent: own?.agent ?? 'lead' };
  if (lead !== null) checkAgent(context, lead.agent, ['members', 'lead', 'agent']);
  if (own?.name !== undefined && own.name !== LEAD) {
    const message = `the lead's name is always "${LEAD}"`;
    context.errors.push({ path: ['members', 'lead', 'name'], message });
  }
  const names = new Map<string, number>();
  const teammates = (raw.members?.teammates ?? []).map((member, index): MemberSpec => {
    const path = ['members', 'teammates', index];
    const first = names.get(member.name);
    if (RESERVED_NAMES.includes(member.name)) {
      const message = `"${member.name}" is a reserved name`;
      const hint = `reserved: ${RESERVED_NAMES.join(', ')}`;
      context.errors.push({ path: [...path, 'name'], message, hint });
    } else if (first !== undefined) {
      const message = `there are two teammates "${member.name}" (the other is members.teammates[${first}])`;
      context.errors.push({ path: [...path, 'name'], message });
    }
    names.set(member.name, first ?? index);
    const agent = member.agent ?? 'implementer';
    checkAgent(context, agent, [...path, 'agent']);
    return { name: asActorName(member.name), agent };
  });
  return { lead, teammates };
}

function resolveBudget(context: Context, raw: RawTeam): Budget {
  return {
    usd: raw.budget?.usd ?? null,
    tokens: raw.budget?.tokens ?? null,
    ...(raw.budget?.turns === undefined ? {} : { turns: raw.budget.turns }),
    wallMs: milliseconds(context, raw.budget?.wall, ['budget', 'wall']),
  };
}

const SHORT_KEYS: ReadonlySet<string> = new Set(['default', 'rules', 'mode', 'timeout']);

/** The short form, or a whole policy; then `default` is the short word for `defaults: {interactive: …}`. */
function resolvePermissions(context: Context, raw: RawTeam): Team['permissions'] {
  const given = raw.permissions ?? {};
  const stated = given.default ?? given.defaults?.interactive;
  const fallback = stated ?? 'ask';
  if (given.default !== undefined && given.defaults?.interactive !== undefined) {
    const message = 'is given twice, here and as defaults.interactive';
    context.errors.push({ path: ['permissions', 'default'], message });
  }
  const written = Object.entries(given).filter(([, value]) => value !== undefined);
  const short = written.every(([key]) => SHORT_KEYS.has(key));
  const policy = resolvePolicy({
    ...given,
    defaults: { ...given.defaults, ...(stated === undefined ? {} : { interactive: stated }) },
  });
  context.check?.(policy, examplesOf(given), { at: ['permissions'], short }).forEach((fault) => {
    const { warning, ...finding } = fault;
    (warning === true ? context.warnings : context.errors).push(finding);
  });
  const { timeout } = given;
  // To wait for ever has to be typed.
  const askTimeoutMs =
    timeout === 'never' ? null : milliseconds(context, timeout, ['permissions', 'timeout']);
  return {
    default: fallback,
    ...(stated === undefined ? { unstated: true } : {}),
    ...(given.mode === undefined ? {} : { mode: given.mode }),
    rules: policy.rules,
    ...(short ? {} : { policy }),
    ...(timeout === undefined ? {} : { askTimeoutMs }),
  };
}

function limitsOf({ restart_period: period, ...plain }: RawTeamLimits): Partial<Limits> {
  const ms = period === undefined ? null : parseDuration(period);
  return { ...defined(plain), ...(ms === null ? {} : { restartPeriodMs: ms }) };
}
