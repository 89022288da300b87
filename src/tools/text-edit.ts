/**
 * Replacing a text in a text. Line endings belong to the file: a search text with LF finds CRLF, and what is put in
 * gets the endings of the file.
 */
import { MATCH_LINES_SHOWN } from './limits.ts';

export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

export type EditOutcome =
  | { readonly ok: true; readonly content: string; readonly count: number; readonly line: number }
  | { readonly ok: false; readonly reason: string };

function applyEdit(content: string, edit: TextEdit): EditOutcome {
  const matches = findMatches(content, edit.oldText);
  const [first] = matches;
  if (first === undefined) {
    return { ok: false, reason: `old_text was not found${missHint(content, edit.oldText)}` };
  }
  if (matches.length > 1 && !edit.all) return { ok: false, reason: notUnique(content, matches) };
  const ending = lineEnding(content);
  const replacement = edit.newText.replaceAll(/\r?\n/g, ending);
  const chosen = withoutOverlaps(matches);
  const parts: string[] = [];
  let from = 0;
  for (const match of chosen) {
    parts.push(content.slice(from, match.start), replacement);
    from = match.end;
  }
  parts.push(content.slice(from));
  const next = parts.join('');
  if (next === content) return { ok: false, reason: 'old_text and new_text are the same' };
  return { ok: true, content: next, count: chosen.length, line: lineAt(content, first.start) };
}

export interface EditedPlace {
  readonly count: number;
  readonly line: number;
}

export type EditsOutcome =
  | { readonly ok: true; readonly content: string; readonly places: readonly EditedPlace[] }
  | { readonly ok: false; readonly index: number; readonly reason: string };

/** Whether the edit is in `content` already, by what is there now. */
function editEffect(content: string, edit: TextEdit): 'done' | 'not-done' | 'unknown' {
  const oldThere = findMatches(content, edit.oldText).length > 0;
  const newThere = edit.newText !== '' && findMatches(content, edit.newText).length > 0;
  const newHoldsOld = edit.newText.includes(edit.oldText);
  const oldHoldsNew = edit.oldText.includes(edit.newText);
  if (newHoldsOld) return newThere ? 'done' : oldThere ? 'not-done' : 'unknown';
  if (oldThere) return newThere && !oldHoldsNew ? 'unknown' : 'not-done';
  return newThere ? 'done' : 'unknown';
}

/** All edits, each on the text as the one before left it, or none: the first that can't be made is named by its place. */
export function applyEdits(content: string, edits: readonly TextEdit[]): EditsOutcome {
  let text = content;
  const places: EditedPlace[] = [];
  for (const [index, edit] of edits.entries()) {
    const outcome = applyEdit(text, edit);
    if (!outcome.ok) return { ok: false, index, reason: outcome.reason };
    text = outcome.content;
    places.push({ count: outcome.count, line: outcome.line });
  }
  return { ok: true, content: text, places };
}

/** As `editEffect`, of edits that were made together or not at all. */
export function editsEffect(
  content: string,
  edits: readonly TextEdit[],
): 'done' | 'not-done' | 'unknown' {
  const effects = edits.map((edit) => editEffect(content, edit));
  if (effects.every((effect) => effect === 'done')) return 'done';
  const again = applyEdits(content, edits).ok;
  if (again) return effects[0] === 'not-done' ? 'not-done' : 'unknown';
  // What an edit put in may have been changed by a later one; the last is as it was left.
  return effects.at(-1) === 'done' && !effects.includes('not-done') ? 'done' : 'unknown';
}

interface Match {
  readonly start: number;
  readonly end: number;
}

/** All matches, overlapping ones too: each is a reason why a text is not unique. */
function findMatches(content: string, wanted: string): Match[] {
  const exact: Match[] = [];
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, at + 1)) {
    exact.push({ start: at, end: at + wanted.length });
  }
  if (exact.length > 0 || !content.includes('\r\n') || !wanted.includes('\n')) return exact;
  const pattern = wanted
    .split(/\r?\n/)
    .map((line) => line.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('\r?\n');
  const loose = new RegExp(pattern, 'g');
  const found: Match[] = [];
  for (let match = loose.exec(content); match !== null; match = loose.exec(content)) {
    found.push({ start: match.index, end: match.index + match[0].length });
    loose.lastIndex = match.index + 1;
  }
  return found;
}

function withoutOverlaps(matches: readonly Match[]): Match[] {
  const kept: Match[] = [];
  for (const match of matches) if (match.start >= (kept.at(-1)?.end ?? 0)) kept.push(match);
  return kept;
}

/** The ending that most lines have. */
export function lineEnding(content: string): '\n' | '\r\n' {
  const crlf = content.split('\r\n').length - 1;
  const all = content.split('\n').length - 1;
  return crlf > all - crlf ? '\r\n' : '\n';
}

function lineAt(content: string, index: number): number {
  return content.slice(0, index).split('\n').length;
}

function notUnique(content: string, matches: readonly Match[]): string {
  const lines = matches.slice(0, MATCH_LINES_SHOWN).map((match) => lineAt(content, match.start));
  const more = matches.length > lines.length ? ', …' : '';
  return (
    `old_text is there ${matches.length} times (lines ${lines.join(', ')}${more}): ` +
    'give more of its surroundings, or set replace_all'
  );
}

/** The usual slip is white space: where the first line stands when it is ignored. */
function missHint(content: string, wanted: string): string {
  const line = wanted
    .split('\n')
    .map((text) => text.trim())
    .find((text) => text !== '');
  if (line === undefined) return '';
  const at = content.split('\n').findIndex((text) => text.trim() === line);
  return at < 0
    ? ''
    : `; its first line is on line ${at + 1}, but what follows or the white space differs`;
}
