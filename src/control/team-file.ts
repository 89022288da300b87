/**
 * A team file from its path to a `Team` with everything that it names: settings as defaults, scripts of the scripted
 * provider. Reads only. Every failure is exit 2 and names file, line and column where there is one.
 */
import {
  formatProblem,
  type ModelRef,
  type ModelSettings,
  type ParsedTeam,
  type Problem,
  parseTeam,
} from '../config/index.ts';
import { EXIT, isTroupeError, systemCode, TroupeError } from '../kernel/errors.ts';
import { asCallId } from '../kernel/ids.ts';
import { whyNot } from '../kernel/unread.ts';
import { checkPolicy } from '../permissions/index.ts';
import type { SkillFile, Team } from '../protocol/team.ts';
import { checkBudget, checkModel, providerFor } from '../providers/index.ts';
import { validateTasks } from '../tasks/index.ts';
import { TOOL_NAMES } from '../tools/index.ts';
import type { ControlDeps } from './deps.ts';
import { folderOf, readText } from './files.ts';
import { SMALL_BYTES_MAX } from './limits.ts';
import { type PlacedModel, readProfiles } from './profiles.ts';
import { problemsError, readSettings, type SettingsPlaces } from './settings.ts';
import { readSkills, skillNames, skillsOfTeam } from './skills.ts';

export interface TeamFileQuery {
  /** As the person named it; messages repeat it. */
  readonly name: string;
  readonly cwd: string;
  /** Instead of the team's. */
  readonly model?: string | undefined;
  /** A model whose key is missing is a note and no error: nothing is started with it. */
  readonly withoutKeys?: boolean | undefined;
}

export interface LoadedTeam {
  /** Absolute. */
  readonly path: string;
  readonly team: Team;
  readonly warnings: readonly Problem[];
  readonly notes: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly models: ModelSettings;
  readonly skills: readonly SkillFile[];
}

export async function loadTeam(
  deps: ControlDeps,
  places: SettingsPlaces,
  query: TeamFileQuery,
): Promise<LoadedTeam> {
  const path = query.name.startsWith('/') ? query.name : `${query.cwd}/${query.name}`;
  const bytes = await readTeamFile(deps, path, query.name);
  const settings = await readSettings(deps, places);
  const { limits } = settings;
  const known = await readSkills(deps, places);
  const found = await readProfiles(deps, places, { models: settings.models, known });
  const parsed = parseTeam(bytes, {
    checkTasks: (tasks) => validateTasks(tasks),
    tools: TOOL_NAMES,
    skills: skillNames(known),
    profiles: found.profiles,
    unusable: found.unusable,
    checkPolicy,
    defaults: {
      model: settings.model.value,
      limits: {
        parallel: limits.parallel.value,
        turns: limits.turns.value,
        depth: limits.depth.value,
        fanout: limits.fanout.value,
      },
      treesRoot: settings.treesRoot.value,
      fallback: settings.fallback.value,
      sandbox: settings.sandbox.value,
    },
  });
  if (parsed.kind === 'problems') {
    throw problemsError('control/team-file', query.name, parsed.problems);
  }
  const team = { ...parsed.team, model: checkedModel(query.model) ?? parsed.team.model };
  const { models } = settings;
  const notes: string[] = [...found.notes];
  const placed = found.models;
  const scripts = await findScripts(deps, { query, path, parsed, team, models, placed, notes });
  checkMoney(team, models);
  const skills = skillsOfTeam(team, known.skills);
  return { path, team, warnings: parsed.warnings, notes, scripts, models, skills };
}

/** A budget in money that nobody could keep is refused (exit 2), be it that of the run, a task or an actor. */
export function checkMoney(team: Team, models: ModelSettings): void {
  if (!needsModel(team)) return;
  const shares = [...team.tasks, ...Object.values(team.agents)].map(({ budget }) => budget);
  const usd = [team.budget, ...shares].find((one) => (one?.usd ?? null) !== null)?.usd ?? null;
  const problem = checkBudget({ usd }, modelsOf(team), models);
  if (problem !== null) throw new TroupeError({ ...problem, exit: EXIT.usage });
}

/** A run that goes on needs again what it needed at its start: keys may be gone by now (exit 2). */
export async function checkRunModels(
  deps: ControlDeps,
  places: SettingsPlaces,
  team: Team,
): Promise<void> {
  if (!needsModel(team)) return;
  const { models } = await readSettings(deps, places);
  for (const ref of modelsOf(team)) {
    const problem = checkModel(ref, models);
    if (problem !== null) throw new TroupeError({ ...problem, exit: EXIT.usage });
  }
  checkMoney(team, models);
}

/** Every model that an actor of this team may be asked to use. */
function modelsOf(team: Team): string[] {
  const own = team.model === null ? [] : [team.model];
  const agents = Object.values(team.agents);
  const named = agents.flatMap(({ model, fallback = [] }) => [model ?? [], fallback].flat());
  return [...own, ...named];
}

const FILE_HINT = '`troupe init` writes a team file to start from.';

async function readTeamFile(deps: ControlDeps, path: string, name: string): Promise<Uint8Array> {
  try {
    return await deps.files.readFile(path, SMALL_BYTES_MAX);
  } catch (error) {
    const code = systemCode(error);
    const why = whyNot(code, SMALL_BYTES_MAX);
    throw new TroupeError({
      code: 'control/team-file',
      message: `${name}: ${why}`,
      hint: code === 'ENOENT' ? FILE_HINT : undefined,
      exit: EXIT.usage,
      cause: error,
    });
  }
}

function checkedModel(model: string | undefined): string | undefined {
  if (model === undefined || /^[^/\s]+\/\S+$/.test(model)) return model;
  throw new TroupeError({
    code: 'control/model',
    message: `--model ${JSON.stringify(model)} is no model`,
    hint: 'Write provider/model, for example scripted/script.yaml.',
    exit: EXIT.usage,
  });
}

interface ScriptSearch {
  readonly query: TeamFileQuery;
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
async function findScripts(
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
  } else if (Object.values(team.agents).some((agent) => agent.model === null)) {
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
function needsModel(team: Team): boolean {
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

export function warningTexts(loaded: LoadedTeam, name: string): string[] {
  const warnings = loaded.warnings.map((problem) => `warning: ${formatProblem(name, problem)}`);
  return [...warnings, ...new Set(loaded.notes)];
}
