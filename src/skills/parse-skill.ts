/**
 * A SKILL.md after the Agent Skills specification (https://agentskills.io/specification). One reading for both uses: what
 * can be used of it, and all that the specification objects to, each with its place.
 */
import { type Frontmatter, type Problem, readFrontmatter } from '../config/index.ts';
import {
  BODY_LINES_ADVISED,
  COMPATIBILITY_CHARS_MAX,
  DESCRIPTION_CHARS_MAX,
  NAME_CHARS_MAX,
  SKILL_BYTES_MAX,
} from './limits.ts';

export interface SkillText {
  readonly name: string;
  readonly description: string;
  readonly body: string;
}

export interface ParsedSkill {
  /** Null: it can't be used at all. */
  readonly skill: SkillText | null;
  /** What breaks the specification. */
  readonly problems: readonly Problem[];
  /** What it advises against. */
  readonly advice: readonly Problem[];
}

const FIELDS = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'];

/** `folder`: name of the folder that the file lies in. Never throws for what the file contains. */
export function parseSkill(source: string | Uint8Array, folder: string): ParsedSkill {
  if (source.length > SKILL_BYTES_MAX) {
    const message = `the file is larger than ${SKILL_BYTES_MAX} bytes`;
    return unusable([{ path: '', line: 1, column: 1, message }]);
  }
  const file = readFrontmatter(source, { lenient: true });
  if (file.kind === 'problems') return unusable(file.problems);
  if (!file.found) {
    const message = 'there is no front matter: the first line must be `---`';
    return unusable([{ path: '', line: 1, column: 1, message }]);
  }
  const objections = new Objections(file);
  const name = checkName(objections, folder);
  const description = checkDescription(objections);
  checkOthers(objections);
  const advice = adviceOn(file);
  return {
    skill: description === null ? null : { name: name ?? folder, description, body: file.body },
    problems: [...file.odd, ...objections.problems].toSorted(
      (a, b) => a.line - b.line || a.column - b.column,
    ),
    advice,
  };
}

function unusable(problems: readonly Problem[]): ParsedSkill {
  return { skill: null, problems, advice: [] };
}

class Objections {
  readonly problems: Problem[] = [];
  readonly file: Frontmatter;

  constructor(file: Frontmatter) {
    this.file = file;
  }

  field(name: string): unknown {
    return Object.hasOwn(this.file.fields, name) ? this.file.fields[name] : undefined;
  }

  add(path: readonly string[], message: string, at: 'key' | 'value' = 'value'): void {
    this.problems.push(this.file.locate({ path, message, at }));
  }
}

/** The name to use; null: the one of the folder. */
function checkName(objections: Objections, folder: string): string | null {
  const given = objections.field('name');
  const object = (message: string): void => objections.add(['name'], message);
  if (given === undefined) {
    object('is missing');
    return null;
  }
  if (typeof given !== 'string' || given.trim() === '') {
    object('must be text');
    return null;
  }
  const name = given.trim().normalize('NFKC');
  const { length } = Array.from(name);
  if (length > NAME_CHARS_MAX)
    object(`must have at most ${NAME_CHARS_MAX} characters, has ${length}`);
  if (name !== name.toLowerCase()) object('must be lower case');
  if (!/^[\p{L}\p{N}-]+$/u.test(name)) object('may have letters, digits and hyphens only');
  if (name.startsWith('-') || name.endsWith('-')) object('must not begin or end with a hyphen');
  if (name.includes('--')) object('must not have two hyphens in a row');
  if (name !== folder.normalize('NFKC')) {
    object(`must be the name of its folder, ${JSON.stringify(folder)}`);
  }
  return /^[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u.test(name) && length <= NAME_CHARS_MAX ? name : null;
}

/** Null: without one nobody knows when to use it. */
function checkDescription(objections: Objections): string | null {
  const given = objections.field('description');
  const object = (message: string): void => objections.add(['description'], message);
  if (given === undefined || given === null) {
    object('is missing: it says what the skill does and when to use it');
    return null;
  }
  if (typeof given !== 'string' || given.trim() === '') {
    object('must be text that says what the skill does and when to use it');
    return null;
  }
  const { length } = Array.from(given);
  if (length > DESCRIPTION_CHARS_MAX) {
    object(`must have at most ${DESCRIPTION_CHARS_MAX} characters, has ${length}`);
  }
  return given.trim().replaceAll(/\s+/g, ' ');
}

function checkOthers(objections: Objections): void {
  const { fields } = objections.file;
  for (const key of Object.keys(fields)) {
    if (FIELDS.includes(key)) continue;
    objections.add([key], `is no field of the specification (${FIELDS.join(', ')})`, 'key');
  }
  const license = objections.field('license');
  if (license !== undefined && typeof license !== 'string') {
    objections.add(['license'], 'must be text');
  }
  const compatibility = objections.field('compatibility');
  if (compatibility !== undefined) {
    const length = typeof compatibility === 'string' ? Array.from(compatibility.trim()).length : 0;
    if (length === 0 || length > COMPATIBILITY_CHARS_MAX) {
      const message = `must be text of 1 to ${COMPATIBILITY_CHARS_MAX} characters`;
      objections.add(['compatibility'], message);
    }
  }
  const metadata = objections.field('metadata');
  if (metadata !== undefined) checkMetadata(objections, metadata);
  const tools = objections.field('allowed-tools');
  const isList = Array.isArray(tools) && tools.every((tool) => typeof tool === 'string');
  if (tools !== undefined && typeof tools !== 'string' && !isList) {
    objections.add(
      ['allowed-tools'],
      'must be text with spaces between the tools, or a list of text',
    );
  }
}

function checkMetadata(objections: Objections, metadata: unknown): void {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    objections.add(['metadata'], 'must be a mapping from text to text');
    return;
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value === 'string') continue;
    objections.add(['metadata', key], 'must be text: put it between quotes');
  }
}

function adviceOn({ body, bodyLine }: Frontmatter): Problem[] {
  const lines = body.split('\n').length;
  const say = (message: string): Problem[] => [{ path: '', line: bodyLine, column: 1, message }];
  if (body === '') return say('there are no instructions after the front matter');
  if (lines <= BODY_LINES_ADVISED) return [];
  return say(
    `the instructions have ${lines} lines; at most ${BODY_LINES_ADVISED} are advised, the rest goes into files beside it`,
  );
}
