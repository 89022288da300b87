/** What commands that list say in a repository where nothing has run: it is no failure, and a program gets nothing. */
import { EXIT, type ExitCode } from '../kernel/errors.ts';
import type { Context } from './context.ts';

/** On the standard error, so that the list itself is empty. */
export function tellNoRun(context: Context): ExitCode {
  if (!context.json) context.io.err.write(noRunYet(context));
  return EXIT.ok;
}

export function noRunYet(context: Context): string {
  return `There is no run in this repository yet. Start one: ${context.command('troupe run TEAM')}\n`;
}
