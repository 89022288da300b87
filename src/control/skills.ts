/** Skills as people see them: which there are and are in use, and what is wrong with those in a folder. */
import { formatProblem, type SkillNames } from '../config/index.ts';
import { EXIT, systemCode, TroupeError } from '../kernel/errors.ts';
import type { SkillFile, Team } from '../protocol/team.ts';
import type { SkillCheck, SkillRow } from '../protocol/views.ts';
import {
  discoverSkills,
  type FoundSkill,
  inUse,
  readFolder,
  type SkillLevel,
  skillsFor,
} from '../skills/index.ts';
import type { ControlDeps } from './deps.ts';
import type { SettingsPlaces } from './settings.ts';
import { readTrust } from './trust-book.ts';

export type { SkillCheck, SkillRow } from '../protocol/views.ts';

/** Whether a person has trusted exactly this content of the repository. */
type Trusts = (sha256: string) => boolean;

async function trustOf(deps: ControlDeps, { state }: SettingsPlaces): Promise<Trusts> {
  return state === undefined ? () => false : (await readTrust(deps, { state })).isTrusted;
}

/** In the order in which they have the word. */
function levelsOf(deps: ControlDeps, { workspace, userConfig }: SettingsPlaces): SkillLevel[] {
  const own = (shown: string): SkillLevel => ({
    folder: `${workspace ?? ''}/${shown}`,
    from: 'repository',
    shown,
    within: workspace,
  });
  const other = (folder: string, from: 'user' | 'shipped'): SkillLevel => ({
    folder,
    from,
    shown: folder,
    within: null,
  });
  const repository =
    workspace === null ? [] : ['.troupe/skills', '.agents/skills', '.claude/skills'].map(own);
  const home = deps.env['HOME'];
  return [
    ...repository,
    other(`${userConfig}/skills`, 'user'),
    ...(home === undefined ? [] : [other(`${home}/.agents/skills`, 'user')]),
    ...(deps.shippedSkills === undefined ? [] : [other(deps.shippedSkills, 'shipped')]),
  ];
}

export interface KnownSkills {
  readonly skills: readonly SkillFile[];
  /** Of the repository, and not trusted as they are now. */
  readonly untrusted: readonly { readonly name: string; readonly path: string }[];
}

export async function readSkills(deps: ControlDeps, places: SettingsPlaces): Promise<KnownSkills> {
  const trusts = await trustOf(deps, places);
  const found = await discoverSkills(deps, levelsOf(deps, places));
  const skills = inUse(found, (one) => isTrusted(one, trusts));
  const untrusted = found.filter(
    (one) => one.from === 'repository' && one.skill !== null && !isTrusted(one, trusts),
  );
  return {
    skills,
    untrusted: untrusted.map(({ skill, folder, shown }) => ({
      name: skill?.name ?? folder,
      path: shown,
    })),
  };
}

function isTrusted({ sha256 }: FoundSkill, trusts: Trusts): boolean {
  return sha256 !== null && trusts(sha256);
}

export function skillNames({ skills, untrusted }: KnownSkills): SkillNames {
  return {
    known: skills.map(({ name }) => name),
    untrusted: untrusted.map(({ name }) => name),
  };
}

/** Those that an actor of the team may load: what a run keeps. */
export function skillsOfTeam(team: Team, skills: readonly SkillFile[]): SkillFile[] {
  const needed = new Set(Object.values(team.agents).flatMap((agent) => skillsFor(agent, skills)));
  return skills.filter((skill) => needed.has(skill));
}

export async function listSkills(deps: ControlDeps, places: SettingsPlaces): Promise<SkillRow[]> {
  const trusts = await trustOf(deps, places);
  const found = await discoverSkills(deps, levelsOf(deps, places));
  const used = new Set(inUse(found, (one) => isTrusted(one, trusts)));
  return found.map((one) => {
    const { skill, folder, from, shown, problems } = one;
    const isUsed = skill !== null && used.has(skill);
    return {
      name: skill?.name ?? folder,
      description: skill?.description ?? '',
      from,
      path: shown,
      inUse: isUsed,
      reason: isUsed ? null : whyNot(one, trusts, used),
      problems: problems.map((problem) => formatProblem(shown, problem)),
    };
  });
}

function whyNot(one: FoundSkill, trusts: Trusts, used: ReadonlySet<SkillFile>): string {
  if (one.skill === null) return 'it can not be read: `troupe skills check` says why';
  if (one.from === 'repository' && one.sha256 === null) {
    return 'it is too large, or holds links or special files, and can not be trusted';
  }
  if (one.from === 'repository' && !isTrusted(one, trusts)) {
    return "it is the repository's own and not trusted as it is now: see `troupe trust`";
  }
  const { name } = one.skill;
  const other = [...used].find((skill) => skill.name === name);
  return other === undefined
    ? 'another one of this name goes first'
    : `the one in ${other.root} goes first`;
}

/** What a person would trust: each skill of the repository by the digest of all that it consists of. */
export async function trustableSkills(
  deps: ControlDeps,
  places: SettingsPlaces,
): Promise<{ readonly path: string; readonly hash: string }[]> {
  const levels = levelsOf(deps, places).filter(({ from }) => from === 'repository');
  const found = await discoverSkills(deps, levels);
  return found.flatMap(({ shown, sha256 }) =>
    sha256 === null ? [] : [{ path: shown, hash: sha256 }],
  );
}

/**
 * `folder`: a skill, or a folder of skills; null: all of the repository and the user. Throws `control/no-skill` (exit 2)
 * when there is none.
 */
export async function checkSkills(
  deps: ControlDeps,
  places: SettingsPlaces,
  folder: { readonly path: string; readonly shown: string } | null,
): Promise<SkillCheck[]> {
  if (folder === null) {
    const levels = levelsOf(deps, places).filter(({ from }) => from !== 'shipped');
    return (await discoverSkills(deps, levels)).map(checked);
  }
  const found = await inFolder(deps, folder);
  if (found.length > 0) return found.map(checked);
  throw new TroupeError({
    code: 'control/no-skill',
    message: `${folder.shown}: there is no SKILL.md in it, nor in a folder in it`,
    hint: 'A skill is a folder with a file SKILL.md.',
    exit: EXIT.usage,
  });
}

async function inFolder(
  deps: ControlDeps,
  { path, shown }: { readonly path: string; readonly shown: string },
): Promise<FoundSkill[]> {
  const whole = path.replace(/\/+$/, '');
  const cut = whole.lastIndexOf('/');
  const level = (folder: string, as: string): SkillLevel => ({
    folder,
    from: 'user',
    shown: as.replace(/\/+$/, ''),
    within: null,
  });
  try {
    await deps.files.list(whole);
  } catch (error) {
    throw new TroupeError({
      code: 'control/no-skill',
      message: `${shown}: ${systemCode(error) === 'ENOENT' ? 'there is no such folder' : 'it is no folder that can be read'}`,
      exit: EXIT.usage,
      cause: error,
    });
  }
  const name = whole.slice(cut + 1);
  const itself = await readFolder(deps, level(whole.slice(0, cut) || '/', parentOf(shown)), name);
  return itself === null ? discoverSkills(deps, [level(whole, shown)]) : [itself];
}

/** So that what is shown begins as the person named it. */
function parentOf(shown: string): string {
  const whole = shown.replace(/\/+$/, '');
  const cut = whole.lastIndexOf('/');
  return cut < 0 ? '.' : whole.slice(0, cut);
}

function checked({ skill, folder, shown, problems, advice }: FoundSkill): SkillCheck {
  return {
    name: skill?.name ?? folder,
    path: shown,
    ok: problems.length === 0,
    problems: problems.map((problem) => formatProblem(shown, problem)),
    warnings: advice.map((problem) => formatProblem(shown, problem)),
  };
}
