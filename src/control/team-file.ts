/**
 * A team file from its path to a `Team` with everything that it names: settings as defaults, scripts of the scripted
 * provider. Reads only. Every failure is exit 2 and names file, line and column where there is one.
 */
import { formatProblem, type ModelSettings, type Problem, parseTeam } from '../config/index.ts';
import { EXIT, systemCode, TroupeError } from '../kernel/errors.ts';
import { whyNot } from '../kernel/unread.ts';
import { checkPolicy } from '../permissions/index.ts';
import type { SkillFile, Team } from '../protocol/team.ts';
import { checkBudget, checkModel } from '../providers/index.ts';
import { validateTasks } from '../tasks/index.ts';
import { TOOL_NAMES } from '../tools/index.ts';
import type { ControlDeps } from './deps.ts';
import { SMALL_BYTES_MAX } from './limits.ts';
import { readProfiles } from './profiles.ts';
import { problemsError, readSettings, type SettingsPlaces } from './settings.ts';
import { readSkills, skillNames, skillsOfTeam } from './skills.ts';
import { findScripts, modelsOf, needsModel, setAside } from './team-models.ts';

export interface TeamFileQuery {
  /** As the person named it; messages repeat it. */
  readonly name: string;
  readonly cwd: string;
  /** Instead of the team's. */
  readonly model?: string | undefined;
  /** Instead of the team's. */
  readonly budgetUsd?: number | undefined;
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
  const whole = {
    ...withBudget(parsed.team, query.budgetUsd),
    model: checkedModel(query.model) ?? parsed.team.model,
  };
  const { models } = settings;
  const notes: string[] = [...found.notes];
  const search = { query, path, parsed, team: whole, models, placed: found.models, notes };
  const team = await setAside(deps, search);
  const scripts = await findScripts(deps, { ...search, team });
  checkMoney(team, models);
  const skills = skillsOfTeam(team, known.skills);
  return { path, team, warnings: parsed.warnings, notes, scripts, models, skills };
}

/** A budget in money that nobody could keep is refused (exit 2), be it that of the run, a task or an actor. */
function checkMoney(team: Team, models: ModelSettings): void {
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

function withBudget(team: Team, usd: number | undefined): Team {
  return usd === undefined ? team : { ...team, budget: { ...team.budget, usd } };
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

export function warningTexts(loaded: LoadedTeam, name: string): string[] {
  const warnings = loaded.warnings.map((problem) => `warning: ${formatProblem(name, problem)}`);
  return [...warnings, ...new Set(loaded.notes)];
}
