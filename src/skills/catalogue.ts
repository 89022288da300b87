/** What an agent is told of skills: which there are, in its system prompt, and one of them whole when it asks. */
import { nearMatches } from '../kernel/index.ts';
import type { AgentProfile, SkillFile } from '../protocol/index.ts';
import { CATALOGUE_CHARS_MAX } from './limits.ts';

/** Those that a profile may load: the ones that it names, else all. */
export function skillsFor(profile: AgentProfile, skills: readonly SkillFile[]): SkillFile[] {
  const { skills: named } = profile;
  return skills.filter((skill) => named === undefined || named.includes(skill.name));
}

/** A section of the system prompt; empty without skills. Names are never left out, long descriptions are. */
export function skillCatalogue(skills: readonly SkillFile[]): string {
  if (skills.length === 0) return '';
  const names = skills.reduce((sum, { name }) => sum + name.length + 4, 0);
  const room = Math.floor(Math.max(CATALOGUE_CHARS_MAX - names, 0) / skills.length);
  const short = skills.filter(({ description }) => description.length <= room);
  const spare = short.reduce((sum, { description }) => sum + room - description.length, 0);
  const long = skills.length - short.length;
  const most = room + (long === 0 ? 0 : Math.floor(spare / long));
  const lines = skills.map(({ name, description }) => `- ${name}: ${fit(description, most)}`);
  return [
    'Skills are instructions for a kind of work. When one fits what you do, load it with load_skill before you begin:',
    ...lines,
  ].join('\n');
}

function fit(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(max - 1, 0)).trimEnd()}…`;
}

export type LoadedSkill =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly text: string };

/** The instructions, with what they are applied to and the files that come with them. */
export function loadSkill(
  skills: readonly SkillFile[],
  call: { readonly name: string; readonly arguments?: string | undefined },
): LoadedSkill {
  const skill = skills.find(({ name }) => name === call.name);
  if (skill === undefined) return { ok: false, text: unknownSkill(call.name, skills) };
  const given = call.arguments?.trim() ?? '';
  const has = /\$ARGUMENTS\b/.test(skill.body);
  const parts = [skill.body.replaceAll(/\$ARGUMENTS\b/g, () => given)];
  if (given !== '' && !has) parts.push(`Arguments: ${given}`);
  if (skill.files.length > 0) {
    const lines = skill.files.map((file) => `- ${skill.root}/${file}`);
    parts.push(
      [
        `Paths in these instructions are relative to ${skill.root}. Its files can be read with read_file, and with nothing else changed:`,
        ...lines,
      ].join('\n'),
    );
  }
  return { ok: true, text: `# Skill ${skill.name}\n\n${parts.join('\n\n')}` };
}

function unknownSkill(name: string, skills: readonly SkillFile[]): string {
  const names = skills.map((skill) => skill.name);
  if (names.length === 0) return `there is no skill "${name}": you have none`;
  const near = nearMatches(name, names);
  const hint =
    near.length > 0 ? `did you mean ${near.join(' or ')}?` : `you have: ${names.join(', ')}`;
  return `there is no skill "${name}"; ${hint}`;
}
