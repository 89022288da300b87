/** What is wrong with a file, and where: the same for every file that people write. */

export type Path = readonly (string | number)[];

export interface Problem {
  readonly message: string;
  /** Place in the document: `tasks[2].needs[0]`; empty for the document itself. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** What to do about it. */
  readonly hint?: string;
}

/** A problem before its line is known. `at`: whether the key or its value is meant. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly at?: 'key' | 'value';
}

/** `["tasks", 2, "needs", 0]` as `tasks[2].needs[0]`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

/** The way back, for paths of names and numbers. */
export function parsePath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) =>
    index === undefined ? (key ?? '') : Number(index),
  );
}

/** One line for people: `team.yaml:3:5: tasks[0].id: …`. */
export function formatProblem(file: string, problem: Problem): string {
  const path = problem.path === '' ? '' : `${problem.path}: `;
  const hint = problem.hint === undefined ? '' : ` (${problem.hint})`;
  return `${file}:${problem.line}:${problem.column}: ${path}${problem.message}${hint}`;
}

export function didYouMean(near: readonly string[]): string | undefined {
  return near.length === 0 ? undefined : `did you mean ${near.join(' or ')}?`;
}
