/**
 * Agent profiles from files: the repository's `.troupe/agents` and `.claude/agents`, then the user's. A profile chooses
 * among tools; what an agent may do with them is for the permissions. So the repository's own are read without trust,
 * but one that takes the name of another profile keeps within that one's tools.
 */
import {
  BUILT_IN_PROFILES,
  formatProblem,
  type ModelSettings,
  type ProfileModel,
  parseProfile,
} from '../config/index.ts';
import { EXIT, TroupeError } from '../kernel/errors.ts';
import type { Files } from '../kernel/ports.ts';
import type { AgentProfile } from '../protocol/team.ts';
import { checkModel } from '../providers/index.ts';
import { TOOL_NAMES } from '../tools/index.ts';
import type { ControlDeps } from './deps.ts';
import { filesIn, readSmall } from './folders.ts';
import type { SettingsPlaces } from './settings.ts';
import { type KnownSkills, skillNames } from './skills.ts';

/** A model that a profile file names. */
export interface PlacedModel extends ProfileModel {
  readonly file: string;
}

export interface FoundProfiles {
  readonly profiles: Readonly<Record<string, AgentProfile>>;
  /** Where each is from. */
  readonly origins: Readonly<Record<string, string>>;
  readonly models: readonly PlacedModel[];
  /** Why a profile of this name can't be used. */
  readonly unusable: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

interface Level {
  readonly folder: string;
  /** As shown. */
  readonly shown: string;
  readonly form: 'troupe' | 'claude';
  readonly from: 'user' | 'repository';
}

interface Finding {
  readonly profiles: Record<string, AgentProfile>;
  readonly origins: Record<string, string>;
  readonly models: Map<string, readonly PlacedModel[]>;
  readonly unusable: Record<string, string>;
  readonly notes: string[];
}

/** Throws `control/profiles` (exit 2) for what is wrong with profiles in our own form. */
export async function readProfiles(
  deps: ControlDeps,
  places: SettingsPlaces,
  given: { readonly models: ModelSettings; readonly known: KnownSkills },
): Promise<FoundProfiles> {
  const found: Finding = {
    profiles: {},
    origins: {},
    models: new Map(),
    unusable: {},
    notes: [],
  };
  // From the last word to the first.
  for (const level of levelsOf(places)) await readLevel(deps.files, { level, found, ...given });
  return { ...found, models: [...found.models.values()].flat() };
}

function levelsOf({ workspace, userConfig }: SettingsPlaces): Level[] {
  const user: Level = {
    folder: `${userConfig}/agents`,
    shown: `${userConfig}/agents`,
    form: 'troupe',
    from: 'user',
  };
  if (workspace === null) return [user];
  const own = (shown: string, form: Level['form']): Level => ({
    folder: `${workspace}/${shown}`,
    shown,
    form,
    from: 'repository',
  });
  return [user, own('.claude/agents', 'claude'), own('.troupe/agents', 'troupe')];
}

interface Reading {
  readonly level: Level;
  readonly found: Finding;
  readonly models: ModelSettings;
  readonly known: KnownSkills;
}

async function readLevel(files: Files, reading: Reading): Promise<void> {
  const { level, found } = reading;
  const here = new Map<string, string>();
  const names = await filesIn(files, level.folder, {
    within: level.from === 'repository' ? level.folder.slice(0, -level.shown.length - 1) : null,
    suffix: '.md',
    note: (text) => found.notes.push(`note: ${text}`),
  });
  for (const name of names) {
    // What explains the folder to people is no profile.
    if (name.toLowerCase() === 'readme.md') continue;
    const shown = `${level.shown}/${name}`;
    const source = await readSmall(files, `${level.folder}/${name}`, {
      links: level.from === 'user',
    });
    if (typeof source === 'string') {
      found.notes.push(`note: ${shown} is not used: ${source}`);
      continue;
    }
    readOne(reading, { shown, stem: name.slice(0, -'.md'.length), source, here });
  }
}

function readOne(
  { level, found, models, known }: Reading,
  file: {
    readonly shown: string;
    readonly stem: string;
    readonly source: Uint8Array;
    /** Profiles of this folder by name, with their file. */
    readonly here: Map<string, string>;
  },
): void {
  const { shown, stem, source, here } = file;
  const below = (name: string): AgentProfile | undefined => {
    const all = { ...BUILT_IN_PROFILES, ...found.profiles };
    return Object.hasOwn(all, name) ? all[name] : undefined;
  };
  const parsed = parseProfile(source, {
    stem,
    form: level.form,
    tools: TOOL_NAMES,
    skills: skillNames(known),
    below,
  });
  if (parsed.kind === 'problems') {
    const lines = parsed.problems.map((problem) => formatProblem(shown, problem));
    // A profile of another program may be none of this team's business: it is missed when somebody names it.
    const isMissed = level.form === 'troupe' || Object.hasOwn(BUILT_IN_PROFILES, parsed.name);
    if (isMissed) throw unusableProfile(lines);
    found.unusable[parsed.name] = `it is in a file that can't be used: ${lines[0] ?? shown}`;
    Reflect.deleteProperty(found.profiles, parsed.name);
    found.notes.push(...lines.map((line) => `note: ${line}`));
    return;
  }
  const { profile } = parsed;
  const other = here.get(profile.name);
  if (other !== undefined) {
    const message = `there are two profiles "${profile.name}" (the other is in ${other})`;
    throw unusableProfile([formatProblem(shown, { path: 'name', line: 1, column: 1, message })]);
  }
  here.set(profile.name, shown);
  found.notes.push(...parsed.warnings.map((problem) => `note: ${formatProblem(shown, problem)}`));
  const lower = below(profile.name);
  const kept =
    level.from === 'repository' && lower !== undefined
      ? within(profile, lower, { shown, notes: found.notes })
      : profile;
  const withModel = { ...kept, model: modelOf(kept, { level, shown, models, notes: found.notes }) };
  found.profiles[profile.name] = withModel;
  found.origins[profile.name] = shown;
  const named = parsed.models.filter(
    (one) => level.form === 'troupe' || one.model === withModel.model,
  );
  found.models.set(
    profile.name,
    named.map((one) => ({ ...one, file: shown })),
  );
  Reflect.deleteProperty(found.unusable, profile.name);
}

/** Nothing of the repository widens what a name stands for elsewhere. */
function within(
  profile: AgentProfile,
  lower: AgentProfile,
  to: { readonly shown: string; readonly notes: string[] },
): AgentProfile {
  if (lower.plan === 'required' && profile.plan !== 'required') {
    to.notes.push(
      `note: ${to.shown} is the repository's own ${profile.name}; plans stay required, as in the one of that name that is yours`,
    );
    return within({ ...profile, plan: 'required' }, lower, to);
  }
  const { tools } = lower;
  if (tools === null) return profile;
  const wanted = profile.tools ?? TOOL_NAMES;
  const left = wanted.filter((tool) => tools.includes(tool));
  if (left.length < wanted.length) {
    to.notes.push(
      `note: ${to.shown} is the repository's own ${profile.name}; it keeps within the tools of the one of that name that is yours or built in`,
    );
  }
  return { ...profile, tools: left };
}

/** A model that Claude Code would have had and we can't have is a wish: the team's own stands in. */
function modelOf(
  profile: AgentProfile,
  to: {
    readonly level: Level;
    readonly shown: string;
    readonly models: ModelSettings;
    readonly notes: string[];
  },
): string | null {
  const { model } = profile;
  if (model === null || to.level.form === 'troupe') return model;
  const problem = checkModel(model, to.models);
  if (problem === null) return model;
  to.notes.push(`note: ${to.shown}: ${problem.message}; ${profile.name} has the team's model`);
  return null;
}

function unusableProfile(lines: readonly string[]): TroupeError {
  return new TroupeError({
    code: 'control/profiles',
    message: lines.join('\n'),
    hint: lines.length === 1 ? undefined : `${lines.length} problems. Nothing was started.`,
    exit: EXIT.usage,
  });
}
