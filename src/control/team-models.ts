/**
 * The models of a team: which an actor may be asked to use, the scripts among them, and whether they can be had. A profile
 * that nothing of the team needs stops no run: it is set aside, with the reason, until it can be used.
 */
import {
  formatProblem,
  type ModelRef,
  type ModelSettings,
  type ParsedTeam,
} from '../config/index.ts';
import { EXIT, isTroupeError, systemCode, TroupeError } from '../kernel/errors.ts';
import { asCallId } from '../kernel/ids.ts';
import type { AgentProfile, Team } from '../protocol/team.ts';
import { checkBudget, checkModel, providerFor } from '../providers/index.ts';
import type { ControlDeps } from './deps.ts';
import { folderOf, readText } from './files.ts';
import type { PlacedModel } from './profiles.ts';
import { problemsError } from './settings.ts';

/** Who works on tasks that name no profile, when the team names nobody. */
const USUAL = 'implementer';

function usable(team: Team): AgentProfile[] {
  return Object.values(team.agents).filter((agent) => agent.unavailable === undefined);
}

/** Profiles that members, tasks and reviews of this team have: without them it can't do its work. */
function profilesNeeded(team: Team): ReadonlySet<string> {
  const members = [team.lead, ...team.teammates].flatMap((member) => member?.agent ?? []);
  const tasks = team.tasks.flatMap(({ prompt, agent }) => (prompt === null ? [] : [agent]));
  const reviews = team.tasks.flatMap(({ verify }) =>
    verify.flatMap((gate) => (gate.kind === 'review' ? [gate.profile] : [])),
  );
  const named = tasks.flatMap((agent) => agent ?? []);
  // What a lead makes without a profile goes there, too.
  const hires = team.teammates.length === 0 && (team.lead !== null || tasks.includes(null));
  return new Set([...members, ...named, ...reviews, ...(hires ? [USUAL] : [])]);
}

/**
 * The team, with a reason at each profile from files that it does not need and can't have: no model, no key, no script, or
 * no price where the budget is in dollars. What the team file itself says of a model is always held to.
 */
export async function setAside(deps: ControlDeps, search: ScriptSearch): Promise<Team> {
  const { team, parsed } = search;
  if (!needsModel(team)) return team;
  const needed = profilesNeeded(team);
  const agents: Record<string, AgentProfile> = { ...team.agents };
  for (const [name, agent] of Object.entries(team.agents)) {
    const isOwn = parsed.models.some(({ path }) => path.startsWith(`agents.${name}.`));
    if (needed.has(name) || isOwn) continue;
    const why = await whyUnusable(deps, search, agent);
    if (why === null) continue;
    agents[name] = { ...agent, unavailable: why };
    // Of a built-in one there is nothing to put right.
    if (agent.model === null) continue;
    search.notes.push(
      `warning: ${why}\nNothing in this team needs the profile ${name}, so the run goes without it.`,
    );
  }
  return { ...team, agents };
}

async function whyUnusable(
  deps: ControlDeps,
  search: ScriptSearch,
  agent: AgentProfile,
): Promise<string | null> {
  const { team, models } = search;
  if (agent.model === null && team.model === null)
    return 'it names no model, and nor does the team';
  const refs = [agent.model ?? [], agent.fallback ?? []].flat();
  const strict = { ...search, query: { ...search.query, withoutKeys: false }, notes: [] };
  try {
    for (const model of refs) {
      if (model === team.model) continue;
      const place = search.placed.find((one) => one.model === model);
      await addModel(deps, strict, { scripts: {}, model, place });
    }
  } catch (error) {
    if (!isTroupeError(error)) throw error;
    return error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
  }
  const price = checkBudget(team.budget, refs, models);
  if (price === null) return null;
  const place = search.placed.find((one) => refs.includes(one.model));
  const { message, hint } = price;
  return place === undefined
    ? `${message} (${hint})`
    : formatProblem(place.file, { ...place, message, hint });
}

/** Every model that an actor of this team may be asked to use. */
export function modelsOf(team: Team): string[] {
  const own = team.model === null ? [] : [team.model];
  const agents = usable(team);
  const named = agents.flatMap(({ model, fallback = [] }) => [model ?? [], fallback].flat());
  return [...own, ...named];
}

export interface ScriptSearch {
  readonly query: {
    readonly name: string;
    readonly model?: string | undefined;
    readonly withoutKeys?: boolean | undefined;
  };
  readonly path: string;
  readonly parsed: Extract<ParsedTeam, { kind: 'ok' }>;
  readonly team: Team;
  readonly models: ModelSettings;
  /** What files of profiles name. */
  readonly placed: readonly PlacedModel[];
  /** Grows. */
  readonly notes: string[];
}

/** Text of every script that an actor of this team can need; throws when a model can't be had. */
export async function findScripts(
  deps: ControlDeps,
  search: ScriptSearch,
): Promise<Readonly<Record<string, string>>> {
  const { team, parsed, query } = search;
  const scripts: Record<string, string> = {};
  if (!needsModel(team)) return scripts;
  const named = parsed.models.filter((ref) => ref.path !== 'model');
  const own = parsed.models.find((ref) => ref.path === 'model');
  if (team.model !== null) {
    const place = query.model === undefined ? own : undefined;
    await addModel(deps, search, { scripts, model: team.model, place });
  } else if (usable(team).some((agent) => agent.model === null)) {
    const message = 'is missing: this team has agents, and they need a model';
    const hint = 'write provider/model, or use --model';
    throw problemsError('control/team-file', query.name, [
      { path: 'model', line: 1, column: 1, message, hint },
    ]);
  }
  for (const place of named) await addModel(deps, search, { scripts, model: place.model, place });
  // What the config and the files of profiles name has no place in the team file.
  const placed = new Set(named.map((one) => one.model));
  for (const model of modelsOf(team)) {
    if (model === team.model || placed.has(model)) continue;
    const place = search.placed.find((one) => one.model === model);
    await addModel(deps, search, { scripts, model, place });
  }
  return scripts;
}

/** A team of command tasks alone needs none. */
export function needsModel(team: Team): boolean {
  const hasMembers = team.lead !== null || team.teammates.length > 0;
  return hasMembers || team.tasks.some((task) => task.prompt !== null);
}

async function addModel(
  deps: ControlDeps,
  search: ScriptSearch,
  what: {
    readonly scripts: Record<string, string>;
    readonly model: string;
    readonly place: (ModelRef & { readonly file?: string }) | undefined;
  },
): Promise<void> {
  const { scripts, model, place } = what;
  const fail = (message: string, hint: string | undefined): TroupeError => {
    if (place !== undefined) {
      const problem = { ...place, message, ...(hint === undefined ? {} : { hint }) };
      const { file = search.query.name } = place;
      return problemsError('control/team-file', file, [problem]);
    }
    return new TroupeError({ code: 'control/model', message, hint, exit: EXIT.usage });
  };
  if (model.startsWith('scripted/')) {
    const script = model.slice('scripted/'.length);
    const file = script.startsWith('/') ? script : `${folderOf(search.path)}/${script}`;
    const text = await readScript(deps, file);
    if (text === null) {
      throw fail(`the script ${script} was not found (looked for ${file})`, undefined);
    }
    scripts[model] = text;
  } else if (model.startsWith('replay/') && model.length > 'replay/'.length) {
    // The recording is looked for when a run is made of it.
    return;
  } else {
    const problem = checkModel(model, search.models);
    if (problem === null) return;
    const isKey = problem.code === 'providers/no-key';
    if (!isKey || search.query.withoutKeys !== true) throw fail(problem.message, problem.hint);
    search.notes.push(`note: ${problem.message}. Before you run it: ${lowerFirst(problem.hint)}`);
    return;
  }
  try {
    providerFor(model, { clock: deps.clock, callId: () => asCallId('none'), scripts });
  } catch (error) {
    if (!isTroupeError(error)) throw error;
    // A problem inside a script has its own file and line already.
    if (error.code === 'providers/bad-script') throw error;
    throw fail(error.message, error.hint);
  }
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

async function readScript(deps: ControlDeps, path: string): Promise<string | null> {
  try {
    return await readText(deps.files, path);
  } catch (error) {
    if (systemCode(error) === 'EISDIR' || systemCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}
