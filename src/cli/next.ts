/** Commands that a person is told to type: they must work where the person is. */
import { isAbsolute, relative, resolve } from 'node:path';
import { shellWord } from '../kernel/shell-word.ts';

export interface Where {
  /** As it was given with `--workspace`; undefined when it was not. */
  readonly workspace: string | undefined;
  readonly cwd: string;
}

/** `line`, with the workspace that was given when the current folder is not inside of it. */
export function commandAt(where: Where, line: string): string {
  const { workspace, cwd } = where;
  if (workspace === undefined || isInside(resolve(cwd, workspace), cwd)) return line;
  if (/ --(?:workspace|help)\b/.test(line)) return line;
  return `${line} --workspace ${shellWord(workspace)}`;
}

/** The same for each command in backticks. */
export function hintAt(where: Where, text: string): string {
  return text.replaceAll(
    /`(troupe [a-z][^`]*)`/g,
    (_, line: string) => `\`${commandAt(where, line)}\``,
  );
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
